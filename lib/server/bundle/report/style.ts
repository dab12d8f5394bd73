import { Markup } from './markup'

/**
 * The colours and sizes of components/ui/tokens.css that a report uses; style.test.ts holds that they are the same. Light
 * and dark follow the reader's own setting, and paper is always light.
 */
export const reportTokens = {
  '--canvas': 'light-dark(#f4f5f4, #0c0f0e)',
  '--surface': 'light-dark(#ffffff, #131716)',
  '--well': 'light-dark(#f0f2f1, #0f1211)',
  '--line': 'light-dark(#dfe2e0, #252b29)',
  '--line-strong': 'light-dark(#bcc3c0, #414a46)',
  '--ink': 'light-dark(#151817, #e8ecea)',
  '--ink-2': 'light-dark(#434a47, #b4bcb8)',
  '--ink-3': 'light-dark(#5f6764, #8f9894)',
  '--ink-4': 'light-dark(#8b938f, #66706b)',
  '--done-mark': 'light-dark(#4f9470, #5f9a7b)',
  '--waiting-ink': 'light-dark(#855000, #f3b93f)',
  '--waiting-mark': 'light-dark(#b87200, #f3b93f)',
  '--waiting-wash': 'light-dark(#fff5df, #261e0e)',
  '--failed-ink': 'light-dark(#b0211d, #ff8279)',
  '--failed-mark': 'light-dark(#c92c27, #f0574e)',
  '--failed-wash': 'light-dark(#fdeeed, #2a1413)',
  '--escal-ink': 'light-dark(#a64500, #ffa06a)',
  '--escal-mark': 'light-dark(#d65f10, #f5853f)',
  '--escal-line': 'light-dark(#e0a37c, #77431f)',
  '--back-ink': 'light-dark(#6140a6, #bda5f2)',
  '--back-mark': 'light-dark(#7a58bf, #9f84e0)',
  '--back-line': 'light-dark(#bda9e2, #54447f)',
  '--focus': 'light-dark(#0b63c5, #79b8ff)',
} as const

const properties = Object.entries(reportTokens)
  .map(([name, value]) => `${name}:${value}`)
  .join(';')

/** The one style sheet of a report. */
export const reportStyle = new Markup(`
:root{color-scheme:light dark;${properties};--sans:Geist,"Segoe UI",system-ui,sans-serif;--mono:"Geist Mono","SF Mono","Cascadia Mono","DejaVu Sans Mono",monospace}
*{box-sizing:border-box}
html{background:var(--canvas);-webkit-text-size-adjust:100%}
body{margin:0;font:400 14px/20px var(--sans);color:var(--ink);background:var(--canvas)}
main{max-width:1120px;margin:0 auto;padding:24px 24px 64px;background:var(--surface);border:solid var(--line);border-width:0 1px}
h1{margin:0;font:500 20px/28px var(--sans);letter-spacing:-.01em;overflow-wrap:anywhere}
h2{margin:40px 0 12px;padding-bottom:8px;border-bottom:1px solid var(--line);font:500 14px/20px var(--sans)}
h3{margin:20px 0 8px;font:500 14px/20px var(--sans);overflow-wrap:anywhere}
p{margin:8px 0;max-width:76ch}
a{color:inherit;text-underline-offset:3px}
:focus-visible{outline:2px solid var(--focus);outline-offset:2px}
code,time,.mono{font:400 12px/20px var(--mono);font-variant-numeric:tabular-nums}
.quiet{color:var(--ink-3)}
.lead{font:400 14px/22px var(--sans);margin:12px 0 0}
.head{display:flex;flex-wrap:wrap;gap:4px 12px;align-items:center;margin:4px 0 0}
.state{display:inline-flex;gap:6px;align-items:center}
.state svg{flex:none}
.shape{fill:none;stroke:currentColor;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}
.s-pending{color:var(--ink-3)}.s-running{color:var(--ink)}.s-waiting{color:var(--waiting-ink)}.s-done{color:var(--ink-2)}.s-failed{color:var(--failed-ink)}.s-rolled_back{color:var(--back-ink)}.s-escalated{color:var(--escal-ink)}.s-skipped{color:var(--ink-3)}.s-cancelled,.s-exhausted{color:var(--ink-2)}.s-unknown{color:var(--ink-3)}
.shape.s-pending,.shape.s-skipped{color:var(--ink-4)}.shape.s-waiting{color:var(--waiting-mark)}.shape.s-done{color:var(--done-mark)}.shape.s-failed{color:var(--failed-mark)}.shape.s-rolled_back{color:var(--back-mark)}.shape.s-escalated{color:var(--escal-mark)}.shape.s-cancelled,.shape.s-exhausted{color:var(--ink-3)}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:4px;background:var(--canvas)}
.scroll>svg{display:block;max-width:100%;height:auto}
svg text{unicode-bidi:isolate}
table{width:100%;border-collapse:collapse}
th,td{padding:6px 12px 6px 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;overflow-wrap:anywhere}
th{font-weight:500;color:var(--ink-3);white-space:nowrap;overflow-wrap:normal}
td.tight,th.tight{white-space:nowrap;overflow-wrap:normal}
td.right,th.right{text-align:right}
tr.back td{color:var(--ink-3)}
.wide{overflow-x:auto}
.wide td{min-width:9ch}
pre{margin:4px 0 0;padding:8px 12px;max-height:30em;overflow:auto;background:var(--well);border:1px solid var(--line);border-radius:4px;font:400 12px/20px var(--mono);white-space:pre-wrap;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:4px 16px;margin:12px 0 0}
dt{color:var(--ink-3)}dd{margin:0;overflow-wrap:anywhere}
ol.chain{margin:4px 0 0;padding:0 0 0 20px}
.node rect{fill:var(--surface);stroke:var(--line-strong)}
.node text{font:500 14px/18px var(--sans);fill:var(--ink)}
.node .word{font:400 12px/18px var(--sans);fill:var(--ink-3)}
.n-pending rect,.n-skipped rect{stroke:var(--line)}.n-skipped rect{fill:var(--canvas)}
.n-pending text,.n-skipped text{font-weight:400;fill:var(--ink-3)}
.n-running rect{stroke:var(--ink)}
.n-waiting rect{fill:var(--waiting-wash);stroke:var(--waiting-mark)}.n-waiting .word{fill:var(--waiting-ink)}
.n-failed rect{fill:var(--failed-wash);stroke:var(--failed-mark)}.n-failed .word{fill:var(--failed-ink)}
.n-rolled_back rect{stroke:var(--back-line)}.n-rolled_back .word{fill:var(--back-ink)}
.n-escalated rect{stroke:var(--escal-line)}.n-escalated .word{fill:var(--escal-ink)}
.edge{fill:none;stroke:var(--line-strong)}.edge.taken{stroke:var(--ink-3);stroke-width:1.75}
.arrow{fill:var(--line-strong)}.arrow.taken{fill:var(--ink-3)}
.on-edge rect{fill:var(--canvas)}.on-edge text{font:400 12px/16px var(--sans);fill:var(--ink-3);text-anchor:middle;dominant-baseline:central}
.lane line{stroke:var(--line)}
.lane text,.axis text{font:400 12px/16px var(--sans);fill:var(--ink-2);dominant-baseline:central}
.axis text{font-family:var(--mono);fill:var(--ink-3)}
.axis line{stroke:var(--line)}
.bar{fill:var(--ink-4);stroke:none}
.bar.b-done{fill:var(--done-mark)}.bar.b-failed{fill:var(--failed-mark)}.bar.b-waiting{fill:var(--waiting-mark)}.bar.b-rolled_back{fill:var(--back-mark)}.bar.b-escalated{fill:var(--escal-mark)}.bar.b-running{fill:var(--ink)}.bar.b-pending{fill:none;stroke:var(--ink-4)}
.gap{fill:var(--line);opacity:.7}
.mark-error{fill:var(--failed-mark)}.mark-person{fill:var(--ink)}.mark-rollback{fill:var(--back-mark)}.mark-artifact{fill:none;stroke:var(--ink-2);stroke-width:1.25}
details>summary{cursor:pointer;margin:12px 0 0}
@media (max-width:640px){main{padding:16px 16px 48px;border:0}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:8px}}
@media print{:root{color-scheme:light}html,body,main{background:#fff}main{max-width:none;border:0;padding:0}h2{break-after:avoid}tr,.node,li{break-inside:avoid}.scroll,.wide{overflow:visible;border:0}.scroll>svg{width:100%;height:auto}pre{max-height:none;overflow:visible}}
`)
