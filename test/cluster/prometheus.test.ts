/**
 * What watches the service, evaluated by a real Prometheus: each alert fires and stays silent when it should, and each
 * panel finds its metrics in the running program.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { SECTIONS } from '../../infra/observe/panels.ts'
import { attributesOf, clientOf } from '../e2e/client.ts'
import { embeddedStoreIn } from '../support/embedded.ts'
import { describeWith } from '../support/needs.ts'
import { openNovaServer } from '../support/novaServer.ts'
import { type Service, startService, tempFolder } from '../support/program.ts'
import { openPrometheus, type Prometheus, promtool } from '../support/prometheus.ts'
import { ALERT_CASES } from '../telemetry/alertCases.ts'
import { type AlertCase, SCRAPE_SECONDS } from '../telemetry/alertSeries.ts'

const LONG = 180_000
const OBSERVE = fileURLToPath(new URL('../../infra/observe', import.meta.url))
const RULES = join(OBSERVE, 'alerts.yml')
type Rule = {
  readonly alert: string
  readonly expr: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: { readonly summary: string }
}
const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: readonly { readonly rules: readonly Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)
const folder = tempFolder('prometheus')
afterAll(folder.remove)

const seconds = (count: number): string => `${count}s`
const seriesOf = (series: Readonly<Record<string, string>>) =>
  Object.entries(series).map(([name, values]) => ({ series: name, values }))
/** Where the series of the silent cases end. */
const LAST = 1000 * SCRAPE_SECONDS
/** Tests as promtool reads them: JSON is YAML. */
const testsOf = ({ alert, labels }: Rule, { fires, silent }: AlertCase) => [
  ...fires.map(({ series, at, says }, number) => ({
    name: `fires, case ${number + 1}`,
    interval: seconds(SCRAPE_SECONDS),
    input_series: seriesOf(series),
    alert_rule_test: [
      { eval_time: seconds(at - SCRAPE_SECONDS), alertname: alert, exp_alerts: [] },
      {
        eval_time: seconds(at),
        alertname: alert,
        exp_alerts: says.map(({ labels: more = {}, summary }) => ({
          exp_labels: { ...labels, ...more },
          exp_annotations: { summary },
        })),
      },
    ],
  })),
  ...silent.map((series, number) => ({
    name: `silent, case ${number + 1}`,
    interval: seconds(SCRAPE_SECONDS),
    input_series: seriesOf(series),
    alert_rule_test: [...fires.map(({ at }) => at), LAST].map((at) => ({
      eval_time: seconds(at),
      alertname: alert,
      exp_alerts: [],
    })),
  })),
]

/** With this rule alone: the others would only take time. */
const judged = (bin: string, rule: Rule, cases: AlertCase) => {
  const [alone, file] = ['rule', 'cases'].map((name) => join(folder.path, `${rule.alert}-${name}.json`))
  const settings = { rule_files: [alone], evaluation_interval: seconds(SCRAPE_SECONDS) }
  writeFileSync(alone!, JSON.stringify({ groups: [{ name: 'alone', rules: [rule] }] }))
  writeFileSync(file!, JSON.stringify({ ...settings, tests: testsOf(rule, cases) }))
  return promtool(bin, folder.path, 'test', 'rules', file!)
}

describeWith('prometheus', 'the alerts', (bin) => {
  test('are rules that Prometheus takes, and so is the configuration that names them', () => {
    expect(promtool(bin, folder.path, 'check', 'rules', RULES)).toMatchObject({
      status: 0,
      text: expect.stringContaining(`SUCCESS: ${rules.length} rules found`),
    })
    expect(promtool(bin, folder.path, 'check', 'config', join(OBSERVE, 'prometheus.yml'))).toMatchObject({ status: 0 })
  })
  test.each(rules.map((rule) => [rule.alert, rule] as const))('%s fires in time, and only then', (alert, rule) => {
    expect(judged(bin, rule, ALERT_CASES[alert]!)).toEqual({ status: 0, text: expect.stringContaining('SUCCESS') })
  })
  test('a case that does not hold is found', () => {
    const rule = rules.find(({ alert }) => alert === 'RelayLags')!
    const { fires, silent } = ALERT_CASES['RelayLags']!
    const [firing] = fires
    for (const forged of [
      { fires, silent: [firing!.series] },
      { fires: [{ ...firing!, series: silent[0]! }], silent },
      { fires: [{ ...firing!, at: firing!.at + SCRAPE_SECONDS }], silent },
      { fires: [{ ...firing!, says: [{ summary: 'something else' }] }], silent },
    ])
      expect(judged(bin, rule, forged)).toMatchObject({ status: 1, text: expect.stringContaining('FAILED') })
  })
})

type Vector = { readonly result: readonly { readonly metric: Readonly<Record<string, string>> }[] }
type ScrapeConfig = { readonly job_name: string; readonly static_configs: unknown }
type Configuration = { readonly rule_files: readonly string[]; readonly scrape_configs: readonly ScrapeConfig[] }
type RuleGroups = {
  readonly groups: readonly {
    readonly rules: readonly { readonly name: string; readonly health: string; readonly state: string }[]
  }[]
}

/**
 * As it is shipped, with the address of this program, and with less time between scrapes; the page itself may take a
 * second.
 */
const configuration = (target: string) => {
  const shipped = parse(readFileSync(join(OBSERVE, 'prometheus.yml'), 'utf8')) as Configuration
  return {
    ...shipped,
    global: { scrape_interval: '3s', scrape_timeout: '3s', evaluation_interval: '1s' },
    rule_files: shipped.rule_files.map((file) => join(OBSERVE, file)),
    scrape_configs: shipped.scrape_configs
      .filter(({ job_name }) => job_name === 'accelerando-control')
      .map((job) => ({ ...job, static_configs: [{ targets: [target] }] })),
  }
}

/** What this program lacks: an outside bus, and a Placement, which needs a Keystone. */
const ELSEWHERE = /accelerando_(?:bus_up|bus_consumer_lag_messages|placement_\w+|keystone_up|tokens_\w+)/
const lines = SECTIONS.flatMap(({ panels }) => panels)
  .flatMap((panel) => panel.lines)
  .map(({ expr, legend }) => ({ expr: expr.replaceAll('$__rate_interval', '1m'), legend }))
const namesIn = (expr: string): readonly string[] =>
  [...expr.matchAll(/\b(?:accelerando|process|nodejs)_\w+/g)].map(([name]) => name)

describeWith('prometheus', 'a Prometheus that scrapes the demo', (bin) => {
  let nova: Awaited<ReturnType<typeof openNovaServer>>
  let service: Service
  let prometheus: Prometheus
  const asked = async (query: string) => (await prometheus.ask<Vector>('query', { query })).result
  const found = (query: string) =>
    vi.waitFor(async () => expect(await asked(query), query).not.toEqual([]), { timeout: 60_000, interval: 200 })

  beforeAll(async () => {
    nova = await openNovaServer()
    nova.place('everyone', 'on a host')
    await embeddedStoreIn(join(folder.path, 'data/store'))
    service = await startService({
      args: ['start', '--demo', '--data', join(folder.path, 'data'), '--listen', '127.0.0.1:0', '--nova-url', nova.url],
      env: { ACCELERANDO_ADMIN_LISTEN: '127.0.0.1:0', ACCELERANDO_UI_LISTEN: '127.0.0.1:0' },
    })
    const target = new URL(service.admin).host
    prometheus = await openPrometheus(bin, folder.path, configuration(target), join(OBSERVE, 'consoles'))
    const client = clientOf(service.base)
    const places = await client.deployables()
    const place = places.find((one) => attributesOf(one)['rc'] === 'FPGA')!
    // it has one accelerator, so that all binds but the first are refused
    const whole = places.find((one) => one.num_accelerators === 1)!
    await client.bind(whole, whole.name.split('_')[0]!)
    // a metric with labels appears with the first event, and only the next one is an increase
    for (const number of [1, 2]) {
      await client.bind(place, place.name.split('_')[0]!)
      await found(`accelerando_bind_seconds_count >= ${number}`)
      await client.bind(whole, whole.name.split('_')[0]!).catch(() => undefined)
      await found(`accelerando_nova_events_total{outcome="delivered"} >= ${number}`)
    }
  }, LONG)
  afterAll(async () => {
    await prometheus?.stop()
    await service?.end('SIGTERM')
    await nova?.close()
  }, LONG)

  test('finds what each panel of the dashboard shows, with the labels of its legend', async () => {
    const here = lines.filter(({ expr }) => !ELSEWHERE.test(expr))
    for (const { expr, legend } of here) {
      await found(expr)
      const labels = [...legend.matchAll(/{{(\w+)}}/g)].map(([, label]) => label!)
      for (const { metric } of await asked(expr))
        expect(Object.keys(metric), expr).toEqual(expect.arrayContaining(labels))
    }
    expect(here.length).toBeGreaterThan(30)
  })
  test('takes the expressions of the others, whose metrics this program does not show', async () => {
    const others = lines.filter(({ expr }) => ELSEWHERE.test(expr))
    for (const { expr } of others) {
      expect(await asked(expr)).toEqual([])
      for (const name of namesIn(expr)) expect(await asked(name)).toEqual([])
    }
    expect(others.length).toBeGreaterThan(3)
  })
  test('has the metrics and labels that the alerts ask for', async () => {
    const here = rules.map(({ expr }) => expr).filter((expr) => !ELSEWHERE.test(expr))
    for (const expr of here)
      for (const [, name, matchers = ''] of expr.matchAll(/\b((?:accelerando|nodejs)_\w+|up)(?:\{([^}]*)\})?/g)) {
        const labels = [...matchers.matchAll(/(\w+)[!=]/g)].map(([, label]) => `${label}!=""`)
        await found(`${name}{${labels.join()}}`)
      }
    expect(here.length).toBeGreaterThan(20)
  })
  test('evaluates every alert, and none fires at a service that is well', async () => {
    const evaluated = async () => (await prometheus.ask<RuleGroups>('rules')).groups.flatMap((group) => group.rules)
    await vi.waitFor(
      async () => expect((await evaluated()).map(({ health }) => health)).not.toContain('unknown'),
      60_000,
    )
    const all = await evaluated()
    expect(all.map(({ name }) => name)).toEqual(rules.map(({ alert }) => alert))
    expect(all.filter(({ health, state }) => health !== 'ok' || state === 'firing')).toEqual([])
  })
  test('draws the console page', async () => {
    const response = await fetch(`${prometheus.origin}/consoles/accelerando.html`)
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('<td>completed none</td>')])
  })
  test('refuses an expression that it cannot read', async () => {
    await expect(asked('sum by (')).rejects.toThrow('parse error')
  })
})
