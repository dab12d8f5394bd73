/** Order matters: each of them also claims to be those below it. */
const browsers: [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(HeadlessChrome|Chrome|Chromium|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const systems: [RegExp, string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\b(Macintosh|Mac OS X)\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** What a browser said of itself, in words: `Firefox on Linux`. A claim, and nothing to rely on. */
export function browserWords(agent: string): string {
  const browser = browsers.find(([shape]) => shape.test(agent))?.[1]
  const system = systems.find(([shape]) => shape.test(agent))?.[1]
  if (browser && system) return `${browser} on ${system}`
  return browser ?? system ?? (agent.trim().slice(0, 40) || 'a browser without a name')
}
