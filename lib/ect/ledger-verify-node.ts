import { type LedgerVerdict, type LedgerVerifyOptions, verifyLedger } from './ledger-verify'
import { nodeCrypto } from './verify-node'

/** `verifyLedger` on node:crypto's thread pool: for servers and the command line. */
export function verifyLedgerNode(
  ledger: Parameters<typeof verifyLedger>[0],
  options: Omit<LedgerVerifyOptions, 'crypto'> = {},
): Promise<LedgerVerdict> {
  return verifyLedger(ledger, { ...options, crypto: nodeCrypto })
}
