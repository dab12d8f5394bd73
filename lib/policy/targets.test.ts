import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addressAnswer,
  answerByName,
  deniedTarget,
  isRefused,
  specialRange,
  targetAnswer,
  targetOf,
} from './targets'
import { namedHosts } from './url-pattern'

const web = { host: 'example.com', port: 443 }

describe('targetOf', () => {
  test('reads host and port, with the default of the scheme', () => {
    expect(targetOf('https://Example.com./x')).toMatchObject({ host: 'example.com', port: 443 })
    expect(targetOf('http://[::1]:8080/')).toMatchObject({ host: '::1', port: 8080 })
  })

  test.each([
    ['ftp://example.com/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['https://user:pw@example.com/', 'user name or password'],
    ['/orders', 'is not one'],
    ['http://exa mple.com/', 'control character'],
    ['http://example.com/\r\nX: y', 'control character'],
  ])('refuses %s', (text, words) => {
    const answer = targetOf(text)
    expect(answer).toMatchObject({ allowed: false, code: 'url_refused' })
    expect(isRefused(answer) && answer.sentence).toContain(words)
  })

  test('never repeats a password in the refusal', () => {
    expect(JSON.stringify(targetOf('https://ada:hunter2@example.com/'))).not.toContain('hunter2')
  })

  test.each(['http://2130706433/', 'http://0x7f.1/', 'http://0177.0.0.1/', 'http://127.1/'])(
    'sees loopback through the spelling %s',
    (text) => {
      const target = targetOf(text)
      expect(isRefused(target) ? undefined : answerByName(target, [])).toMatchObject({
        code: 'target_private',
      })
    },
  )
})

describe('specialRange', () => {
  test.each([
    '127.0.0.1',
    '127.255.0.9',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '::1',
    'fe80::1',
    'fd00::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
  ])('finds %s private', (address) => {
    expect(specialRange(address)).toMatchObject({ canBeNamed: true })
  })

  test.each([
    '0.0.0.0',
    '0.1.2.3',
    '224.0.0.1',
    '239.255.255.255',
    '255.255.255.255',
    '240.0.0.1',
    '198.18.0.1',
    '::',
    'ff02::1',
    '::7f00:1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:0:7f00:1::',
    'fec0::1',
    'not-an-address',
  ])('never reaches %s', (address) => {
    expect(specialRange(address)).toMatchObject({ canBeNamed: false })
  })

  test.each(['1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])(
    'finds %s public',
    (address) => {
      expect(specialRange(address)).toBeUndefined()
    },
  )

  test('judges an IPv4 address and its IPv6-mapped form alike', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(specialRange(`::ffff:${address}`)).toEqual(specialRange(address))
      }),
    )
  })
})

describe('addressAnswer', () => {
  test('allows a private address that an entry names, and says which', () => {
    const local = { host: 'router.internal', port: 8080 }
    for (const entry of [
      'router.internal',
      'router.internal:8080',
      '10.0.0.0/8',
      '10.0.0.7',
      '10.0.0.7:8080',
    ]) {
      expect(addressAnswer(local, '10.0.0.7', [entry])).toEqual({
        allowed: true,
        rule: `private target ${entry}`,
      })
    }
  })

  test('holds an entry to its port, host and network', () => {
    const local = { host: 'router.internal', port: 8080 }
    for (const entry of [
      'router.internal:80',
      'internal',
      '11.0.0.0/8',
      '10.0.0.8',
      '',
      '*',
      'http://10.0.0.7',
      'fd00::/8',
    ]) {
      expect(addressAnswer(local, '10.0.0.7', [entry])).toMatchObject({
        allowed: false,
        code: 'target_private',
      })
    }
  })

  test('sees an IPv6-mapped address inside an IPv4 network', () => {
    expect(addressAnswer(web, '::ffff:10.0.0.7', ['10.0.0.0/8'])).toMatchObject({ allowed: true })
  })

  test('reads IPv6 entries with and without a port', () => {
    const local = { host: '::1', port: 7401 }
    for (const entry of ['::1', '[::1]', '[::1]:7401', '::1/128']) {
      expect(addressAnswer(local, '::1', [entry])).toMatchObject({ allowed: true })
    }
    expect(addressAnswer(local, '::1', ['[::1]:7402'])).toMatchObject({ allowed: false })
  })

  test('opens no multicast or unspecified address, even when named', () => {
    for (const address of ['0.0.0.0', '224.0.0.1', '::']) {
      expect(
        addressAnswer({ host: address, port: 80 }, address, [address, '0.0.0.0/0', '::/0']),
      ).toMatchObject({
        allowed: false,
        rule: 'special addresses are never reached',
      })
    }
  })
})

describe('targetAnswer', () => {
  test('refuses a name with one public and one private address', () => {
    const answer = targetAnswer(web, ['93.184.216.34', '127.0.0.1'], [])
    expect(answer).toMatchObject({ allowed: false, code: 'target_private' })
  })

  test('allows a name whose addresses are all public', () => {
    expect(targetAnswer(web, ['93.184.216.34'], [])).toEqual({ allowed: true, rule: 'public addresses' })
  })

  test('refuses a name that resolves to nothing', () => {
    expect(targetAnswer(web, [], [])).toMatchObject({ allowed: false, code: 'url_refused' })
  })
})

describe('answerByName', () => {
  test('knows localhost and its children without asking', () => {
    expect(answerByName({ host: 'localhost', port: 80 }, [])).toMatchObject({ code: 'target_private' })
    expect(answerByName({ host: 'a.localhost', port: 80 }, [])).toMatchObject({ code: 'target_private' })
    expect(answerByName({ host: 'localhost', port: 80 }, ['localhost:80'])).toMatchObject({ allowed: true })
    expect(answerByName(web, [])).toBeUndefined()
  })
})

describe('what an allowlist opens', () => {
  const named = namedHosts(['*', 'http://router.internal:8080/**', 'http://127.0.0.1:9000/x'])

  test('is the host and port that a URL pattern spells out', () => {
    expect(addressAnswer({ host: 'router.internal', port: 8080 }, '10.0.0.7', named)).toMatchObject({
      allowed: true,
    })
    expect(addressAnswer({ host: '127.0.0.1', port: 9000 }, '::ffff:127.0.0.1', named)).toMatchObject({
      allowed: true,
    })
  })

  test.each([
    ['another port', 'router.internal', 9090, '10.0.0.7'],
    ['a name that answers with a private address', 'evil.example', 8080, '10.0.0.7'],
    ['a name that answers with a mapped one', 'evil.example', 80, '::ffff:10.0.0.7'],
    ['the metadata service', 'metadata', 80, '169.254.169.254'],
    ['the unspecified address', '0.0.0.0', 9000, '0.0.0.0'],
  ])('is not %s', (_, host, port, address) => {
    const answer = addressAnswer({ host, port }, address, named)
    expect(answer).toMatchObject({ allowed: false, code: 'target_private' })
    if (!isRefused(answer)) throw new Error('Expected a refusal')
    expect(deniedTarget({ host, port }, answer).sentence).toMatch(
      /^http\.request denied on \S+:\d+: "\S+" leads to /,
    )
  })

  test.each([
    'http://2130706433:9000/x',
    'http://0x7f000001:9000/x',
    'http://0177.0.0.1:9000/x',
    'http://127.1:9000/x',
  ])('is the same address in the spelling %s, and on no other port', (url) => {
    const target = targetOf(url)
    if (isRefused(target)) throw new Error(target.sentence)
    expect(answerByName(target, named)).toMatchObject({ allowed: true })
    expect(answerByName({ ...target, port: 9001 }, named)).toMatchObject({ allowed: false })
  })
})
