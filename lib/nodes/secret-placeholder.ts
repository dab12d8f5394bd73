/*
 * `{{secret:NAME}}` inside a fixed header. The placeholder is what is written, stored, shown and decided on; the value
 * takes its place only in the request that goes out (agentd section 1.4). It is no template: no value of the run is ever
 * filled in here, so that nothing a model or a caller wrote can shape a header.
 */

const placeholder = /\{\{\s*secret:([A-Za-z_][A-Za-z0-9_.-]{0,127})\s*\}\}/g

/** Why a header's value cannot be used, or undefined when it can: braces that are no placeholder of a secret. */
export function placeholderFault(header: string, value: string): string | undefined {
  if (!value.replace(placeholder, '').includes('{{')) return undefined
  return `The value of the header "${header}" holds "{{" and no {{secret:NAME}}; a header takes fixed text and named secrets, and no values of the run.`
}

/** The secrets a value names, each once. */
export function secretsNamed(value: string): string[] {
  return [...new Set([...value.matchAll(placeholder)].map((found) => found[1] ?? ''))]
}

/** The value with its secrets in place; one that the table does not have stays a placeholder. */
export function withSecrets(value: string, secrets: ReadonlyMap<string, string>): string {
  return value.replace(placeholder, (literal, name: string) => secrets.get(name) ?? literal)
}
