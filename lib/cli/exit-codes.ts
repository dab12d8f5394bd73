/** What a command's exit code says; the same for every command (the codes agentd's users know). */
export const exitCode = {
  /** Done; a run completed; a bundle holds. */
  ok: 0,
  /** The command line was not understood, or a named file could not be read. */
  usage: 2,
  /** Failed, timed out, errored; refused by validation, policy or verification. */
  failed: 5,
  /** The run waits: for a person, an agent, or an operator. */
  paused: 7,
} as const
