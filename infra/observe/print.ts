/**
 * Prints the dashboard for Grafana, the same panels as a Prometheus console page, and the manual page of the metrics.
 */
import { CONTROL_METRICS, HOST_METRICS, METRIC_PREFIX, type MetricRow } from '../../src/cli/observe/metricsTable.ts'
import { type Dashboard, DASHBOARDS, type Panel, SECTIONS, type Section } from './panels.ts'

const [WIDTH, HEIGHT, COLUMNS] = [8, 8, 3]
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' }

const panelAt = (panel: Panel, at: number, y: number) => ({
  type: 'timeseries',
  title: panel.title,
  datasource: DATASOURCE,
  gridPos: { x: (at % COLUMNS) * WIDTH, y: y + Math.floor(at / COLUMNS) * HEIGHT, w: WIDTH, h: HEIGHT },
  fieldConfig: { defaults: { unit: panel.unit, min: 0 }, overrides: [] },
  targets: panel.lines.map(({ expr, legend }, target) => ({
    refId: String.fromCodePoint(65 + target),
    datasource: DATASOURCE,
    expr,
    legendFormat: legend,
  })),
})

const panelsOf = (sections: readonly Section[]) => {
  let y = 0
  return sections
    .flatMap(({ title, panels: inside }) => {
      const head = { type: 'row', title, collapsed: false, gridPos: { x: 0, y, w: 24, h: 1 }, panels: [] }
      const placed = inside.map((panel, at) => panelAt(panel, at, y + 1))
      y += 1 + Math.ceil(inside.length / COLUMNS) * HEIGHT
      return [head, ...placed]
    })
    .map((panel, at) => ({ id: at + 1, ...panel }))
}

const TAG = 'accelerando'
/** The links lead from each dashboard to the others. */
const dashboardOf = ({ name, title, sections }: Dashboard) => ({
  uid: `accelerando-${name}`,
  title,
  tags: [TAG],
  links: [
    { type: 'dashboards', title: 'accelerando', tags: [TAG], asDropdown: false, includeVars: true, keepTime: true },
  ],
  schemaVersion: 39,
  timezone: 'utc',
  refresh: '10s',
  time: { from: 'now-1h', to: 'now' },
  templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] },
  panels: panelsOf(sections),
})
export const dashboards = () =>
  DASHBOARDS.map((dashboard) => ({ file: `dashboards/${dashboard.name}.json`, shown: dashboardOf(dashboard) }))

/** Prometheus does not support `$__rate_interval`. */
const plain = (expr: string): string => expr.replaceAll('$__rate_interval', '1m')
/** Converts Grafana's `{{label}}` to the syntax of console templates. */
const legend = (text: string): string => text.replaceAll(/{{(\w+)}}/g, '{{ .Labels.$1 }}')
const UNITS: Readonly<Record<Panel['unit'], string>> = {
  s: '{{ .Value | humanizeDuration }}',
  ops: '{{ .Value | humanize }}/s',
  short: '{{ .Value | humanize }}',
  percentunit: '{{ .Value | humanizePercentage }}',
  bytes: '{{ .Value | humanize1024 }}B',
}

const tableOf = ({ title, unit, lines }: Panel): string => {
  const graph = lines.map(({ expr }, at) => `g${at}.expr=${encodeURIComponent(plain(expr))}&amp;g${at}.tab=0`)
  const rows = lines.map(
    (one) =>
      `{{ range query \`${plain(one.expr)}\` }}<tr><td>${legend(one.legend)}</td><td>${UNITS[unit]}</td></tr>{{ end }}`,
  )
  return `<section><h3><a href="../graph?${graph.join('&amp;')}">${title}</a></h3><table>\n${rows.join('\n')}\n</table></section>`
}

export const consolePage = (): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="10"><title>accelerando</title>
<style>
body { font: 14px sans-serif; margin: 1rem }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(22rem, 1fr)); gap: 0 2rem }
h2 { grid-column: 1 / -1; border-bottom: 1px solid }
td:last-child { text-align: right; padding-left: 1rem }
</style></head><body><h1>accelerando</h1>
<p>Values of this moment; a title leads to its graph. <a href="../alerts">Alerts</a></p><main>
${SECTIONS.map((section) => `<h2>${section.title}</h2>\n${section.panels.map(tableOf).join('\n')}`).join('\n')}
</main></body></html>
`

const metricRow = ([name, { type, labels, help }]: [string, MetricRow]): string =>
  `| ${METRIC_PREFIX}${name} | ${type} | ${labels.join(', ') || '-'} | ${help} |`
const metricTable = (rows: Readonly<Record<string, MetricRow>>): string =>
  ['| name | type | labels | meaning |', '|---|---|---|---|', ...Object.entries(rows).map(metricRow)].join('\n')

export const metricsPage = (): string => `# Metrics

Reference. Printed from the code: \`npm run print\`. Both kinds of process show them at \`/metrics\` of the admin listener, beside
\`process_*\` and \`nodejs_*\` of the process itself. No label holds a uuid, a project or the name of a host.

## Controls

${metricTable(CONTROL_METRICS)}

## Hosts

${metricTable(HOST_METRICS)}
`
