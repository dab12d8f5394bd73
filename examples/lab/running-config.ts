/*
 * A router's configuration as text, and the little of it that the lab understands: which BGP neighbours it has, which
 * are shut down, and whom the access list TELEMETRY lets read its counters.
 */

/** The address the traffic monitor collects from. */
export const collectorAddress = '198.51.100.40'

export interface Neighbor {
  address: string
  remoteAs: number
  description: string
  isShutDown: boolean
}

/** The configuration a router starts its life with. */
export function factoryConfig(hostname: string, loopback: string): string {
  return `! ${hostname}: running configuration
hostname ${hostname}
!
interface Loopback0
 description router id
 ip address ${loopback} 255.255.255.255
!
interface GigabitEthernet0/0
 description transit-a
 ip address 192.0.2.2 255.255.255.252
 no shutdown
!
interface GigabitEthernet0/1
 description transit-b
 ip address 192.0.2.10 255.255.255.252
 no shutdown
!
router bgp 64500
 bgp router-id ${loopback}
 bgp log-neighbor-changes
 neighbor 192.0.2.1 remote-as 64501
 neighbor 192.0.2.1 description transit-a
 neighbor 192.0.2.1 weight 200
 neighbor 192.0.2.9 remote-as 64502
 neighbor 192.0.2.9 description transit-b
 neighbor 192.0.2.9 weight 100
 neighbor 192.0.2.9 shutdown
 network 203.0.113.0 mask 255.255.255.0
!
ip access-list standard TELEMETRY
 remark flow collectors
 permit host ${collectorAddress}
 permit 203.0.113.0 0.0.0.255
 deny any
!
telemetry export
 access-list TELEMETRY
 interval 10
!
end
`
}

/** The BGP neighbours, in the order of the text. */
export function neighborsOf(config: string): Neighbor[] {
  const found = new Map<string, Neighbor>()
  for (const [, address = '', rest = ''] of config.matchAll(/^ neighbor (\S+) (.+)$/gm)) {
    const neighbor = found.get(address) ?? { address, remoteAs: 0, description: '', isShutDown: false }
    found.set(address, neighbor)
    if (rest.startsWith('remote-as ')) neighbor.remoteAs = Number(rest.slice(10))
    else if (rest.startsWith('description ')) neighbor.description = rest.slice(12)
    else if (rest === 'shutdown') neighbor.isShutDown = true
  }
  return [...found.values()]
}

/** True when the access list TELEMETRY lets an IPv4 address in. The first line that fits decides; none means no. */
export function permitsTelemetry(config: string, address: string): boolean {
  for (const line of telemetryList(config)) {
    const [verb, ...target] = line.trim().split(/\s+/)
    if (verb !== 'permit' && verb !== 'deny') continue
    if (matches(target, address)) return verb === 'permit'
  }
  return false
}

function telemetryList(config: string): string[] {
  const lines = config.split('\n')
  const start = lines.indexOf('ip access-list standard TELEMETRY')
  if (start === -1) return []
  const end = lines.findIndex((line, at) => at > start && !line.startsWith(' '))
  return lines.slice(start + 1, end === -1 ? undefined : end)
}

function matches(target: string[], address: string): boolean {
  const [first = '', second] = target
  if (first === 'any') return true
  if (first === 'host') return second === address
  const wildcard = numberOf(second ?? '0.0.0.0')
  const [network, asked] = [numberOf(first), numberOf(address)]
  if (wildcard === undefined || network === undefined || asked === undefined) return false
  return (network | wildcard) >>> 0 === (asked | wildcard) >>> 0
}

function numberOf(address: string): number | undefined {
  const octets = address.split('.').map(Number)
  if (octets.length !== 4 || octets.some((octet) => !Number.isInteger(octet) || octet < 0 || octet > 255))
    return undefined
  return octets.reduce((sum, octet) => sum * 256 + octet, 0)
}

/** What is wrong with a configuration; empty when it would be accepted. */
export function faultsOf(config: string): string[] {
  const faults: string[] = []
  if (!/^hostname \S+$/m.test(config)) faults.push('There is no hostname.')
  if (!/^router bgp \d+$/m.test(config)) faults.push('There is no BGP process.')
  const neighbors = neighborsOf(config)
  for (const { address, remoteAs } of neighbors) {
    if (!(remoteAs > 0)) faults.push(`Neighbour ${address} has no remote AS.`)
  }
  if (neighbors.length > 0 && neighbors.every((neighbor) => neighbor.isShutDown))
    faults.push('Every neighbour is shut down.')
  return faults
}

/**
 * The failover: traffic moves from transit-a to transit-b. The template it comes from also rewrites the access list,
 * and leaves the collector out: that is the accident the story is about. `keepCollector` avoids it.
 */
export function withFailover(config: string, keepCollector: boolean): string {
  const lines = config.split('\n').filter((line) => line !== ' neighbor 192.0.2.9 shutdown')
  if (!lines.includes(' neighbor 192.0.2.1 shutdown')) {
    const weight = lines.findIndex((line) => line.startsWith(' neighbor 192.0.2.1 weight '))
    if (weight !== -1) lines.splice(weight + 1, 0, ' neighbor 192.0.2.1 shutdown')
  }
  const moved = lines.map((line) =>
    line.startsWith(' neighbor 192.0.2.9 weight ') ? ' neighbor 192.0.2.9 weight 300' : line,
  )
  return moved.filter((line) => keepCollector || line !== ` permit host ${collectorAddress}`).join('\n')
}
