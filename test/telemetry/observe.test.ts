/**
 * What is watched exists: every metric of the alerts, the dashboard, the console page and the manual is a row of the
 * table.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { SECTIONS } from '../../infra/observe/panels.ts'
import { consolePage, dashboards, metricsPage } from '../../infra/observe/print.ts'
import { openMeter } from '../../src/cli/observe/metrics.ts'
import { showTokens } from '../../src/cli/observe/metricsControl.ts'
import { METRICS, METRIC_PREFIX, type MetricRow } from '../../src/cli/observe/metricsTable.ts'
import { ALERT_CASES } from './alertCases.ts'
import { pageOf, showControl, zeros } from './page.ts'

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')

const PARTS = { counter: [''], gauge: [''], histogram: ['_bucket', '_sum', '_count'] } as const
const table: ReadonlyMap<string, MetricRow> = new Map(
  Object.entries<MetricRow>(METRICS).flatMap(([name, row]) =>
    PARTS[row.type].map((part) => [`${METRIC_PREFIX}${name}${part}`, row] as const),
  ),
)
/** A label that is no label of its metric finds nothing, silently. */
const TARGET = ['le', 'instance', 'job']
const problems = (expr: string): readonly string[] => {
  const rows = [...expr.matchAll(/accelerando_\w+/g)].map(([name]) => [name, table.get(name)] as const)
  const unknown = rows.flatMap(([name, row]) => (row ? [] : [`no metric ${name}`]))
  const labels = [...expr.matchAll(/\bby \(([^)]*)\)|(\w+)=~?"/g)].flatMap(([, by, label]) => label ?? by!.split(', '))
  const known = new Set([...TARGET, ...rows.flatMap(([, row]) => row?.labels ?? [])])
  return [...unknown, ...labels.filter((label) => !known.has(label)).map((label) => `no label ${label} in ${expr}`)]
}

/** Each alert with its expression, however many lines that takes. */
const alertsIn = (text: string): readonly { readonly name: string; readonly expr: string }[] =>
  text
    .split(/^ {6}- alert: /m)
    .slice(1)
    .map((rule) => ({
      name: rule.split('\n', 1)[0]!,
      expr: /^ {8}expr: (.*(?:\n {10}.*)*)/m.exec(rule)![1]!.replaceAll(/\s+/g, ' '),
    }))
/** What the labels of our metrics may say. A value that none of them has finds nothing either. */
const VALUES = new Map<string, Set<string>>()
beforeAll(async () => {
  const meter = openMeter()
  showControl(meter, {
    sweeper: { placer: { counts: () => zeros({ passes: zeros(), changes: zeros(), troubles: zeros() }) } },
  })
  const session = { whyFailing: () => ({}) }
  showTokens(meter, { session, tokensRefused: () => zeros() } as unknown as Parameters<typeof showTokens>[1])
  await meter.registry.metrics()
  for (const { name, labels } of pageOf(await meter.registry.metrics()).samples)
    for (const [label, text] of Object.entries(labels)) {
      const key = `${name.replace(METRIC_PREFIX, '')} ${label}`
      VALUES.set(key, (VALUES.get(key) ?? new Set()).add(text))
    }
  // refusals are counted by kind, the first of each kind when it happens
  VALUES.get('bind_requests_total outcome')!.add('refused')
})
const OPEN = /^(?:bus_consumer_lag_messages|journal_append_seconds_bucket) /
const valueProblems = (expr: string): readonly string[] =>
  [...expr.matchAll(/accelerando_(\w+)\{([^}]*)\}/g)].flatMap(([, name, matchers]) =>
    [...matchers!.matchAll(/(\w+)!?=~?"([^"]*)"/g)]
      .filter(([, label]) => !TARGET.includes(label!) && !OPEN.test(`${name} ${label}`))
      .flatMap(([, label, texts]) => {
        const known = VALUES.get(`${name} ${label}`) ?? new Set()
        return texts!.split('|').flatMap((text) => (known.has(text) ? [] : [`${name} has no ${label} ${text}`]))
      }),
  )

const alerts = alertsIn(read('infra/observe/alerts.yml'))
const lines = SECTIONS.flatMap(({ panels }) => panels).flatMap((panel) => panel.lines)

describe('what watches the service', () => {
  test('alerts use metrics and labels that exist', () => {
    expect(alerts.length).toBeGreaterThan(15)
    expect(alerts.flatMap(({ expr }) => problems(expr))).toEqual([])
  })
  test('every alert has cases in which it fires and cases in which it is silent', () => {
    expect(Object.keys(ALERT_CASES).toSorted()).toEqual(alerts.map(({ name }) => name).toSorted())
    for (const [name, { fires, silent }] of Object.entries(ALERT_CASES))
      expect(Math.min(fires.length, silent.length), name).toBeGreaterThan(0)
  })
  test('alerts, and the cases that try them, use values of labels that exist', () => {
    const cases = Object.values(ALERT_CASES).flatMap(({ fires, silent }) => [
      ...fires.map(({ series }) => series),
      ...silent,
    ])
    const texts = [...alerts.map(({ expr }) => expr), ...cases.flatMap((series) => Object.keys(series))]
    expect(texts.flatMap(valueProblems)).toEqual([])
  })
  test('panels use metrics and labels that exist', () => {
    expect(lines.length).toBeGreaterThan(20)
    expect(lines.flatMap(({ expr }) => [...problems(expr), ...valueProblems(expr)])).toEqual([])
    for (const { expr, legend } of lines)
      for (const [, label] of legend.matchAll(/{{(\w+)}}/g))
        expect(problems(`${expr} by (${label})`), `${legend} of ${expr}`).toEqual([])
  })
  test('dashboards and console page are what the rows print', () => {
    for (const { file, shown } of dashboards()) expect(JSON.parse(read(`infra/observe/${file}`))).toEqual(shown)
    expect(read('infra/observe/consoles/accelerando.html')).toBe(consolePage())
  })
  test('there are four dashboards, each with an address and panels of its own', () => {
    const all = dashboards().map(({ shown }) => shown)
    expect(all.map(({ uid }) => uid)).toEqual([
      'accelerando-service',
      'accelerando-hosts',
      'accelerando-capacity',
      'accelerando-bus-and-journal',
    ])
    const titles = SECTIONS.flatMap(({ title, panels }) => panels.map((panel) => `${title}: ${panel.title}`))
    expect(new Set(titles).size).toBe(titles.length)
    for (const { panels } of all) {
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
      expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size).toBe(panels.length)
    }
  })
  test('the manual names metrics that exist, and says of every alert what to do', () => {
    expect(read('docs/metrics.md')).toBe(metricsPage())
    const manual = read('docs/operations.md')
    const named = [...manual.matchAll(/accelerando_\w+/g)].map(([name]) => name)
    const rows = new Set(Object.keys(METRICS).map((name) => `${METRIC_PREFIX}${name}`))
    expect(named.filter((name) => !rows.has(name) && !table.has(name))).toEqual([])
    expect(alerts.filter(({ name }) => !manual.includes(`| ${name} |`)).map(({ name }) => name)).toEqual([])
  })
  test('a name that is wrong is found', () => {
    expect(problems('rate(accelerando_binds_total[5m])')).toEqual(['no metric accelerando_binds_total'])
    expect(problems('sum(accelerando_bind_seconds)')).toEqual(['no metric accelerando_bind_seconds'])
    expect(problems('accelerando_hosts{state="up"}')).toEqual(['no label state in accelerando_hosts{state="up"}'])
    expect(problems('sum by (host) (accelerando_hosts)')).toHaveLength(1)
    expect(valueProblems('accelerando_hosts{liveness=~"down|away"}')).toEqual(['hosts has no liveness away'])
    const planted =
      '      - alert: A\n        expr: >-\n          sum(x)\n          / accelerando_no\n        for: 1m\n'
    expect(alertsIn(planted).flatMap(({ expr }) => problems(expr))).toEqual(['no metric accelerando_no'])
  })
})
