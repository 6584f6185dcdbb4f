/** Everything that is measured on one store with one number of ARQs, in order. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Scene, measureBinds, measureGets, measurePosts, warmUp } from './binds.ts'
import { digits } from './figures.ts'
import type { LoadGenerator } from './generator.ts'
import { measureKill } from './kill.ts'
import type { Options, StoreKind } from './options.ts'
import type { Server } from './postgres.ts'
import { cpuMs, memoryOf, quiet } from './proc.ts'
import { type Program, command, start } from './program.ts'
import type { Results, StartResult } from './results.ts'
import { type Stand, targetsOf } from './stand.ts'

export type Scripts = {
  readonly options: Options
  readonly results: Results
  readonly server: Server | null
  readonly generator: LoadGenerator
  readonly say: (line: string) => void
}

const STARTS = 3
const MEMORY_AT = 10_000

type Opened = { readonly program: Program; readonly drop: () => Promise<void> }

const onNothing = async (store: StoreKind, server: Server | null): Promise<Opened> => {
  const folder = mkdtempSync(join(tmpdir(), 'accelerando-bench-'))
  const database = store === 'postgres' ? await server!.fresh() : null
  const program = await start({ place: { data: join(folder, 'data'), database: database?.url ?? null } })
  const drop = async () => {
    await database?.drop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { program, drop }
}

const timesOf = async (open: () => Promise<Opened>): Promise<Pick<StartResult, 'readyMs' | 'cpuMs'>> => {
  const [readyMs, cpu]: [number[], number[]] = [[], []]
  for (let at = 0; at < STARTS; at++) {
    const { program, drop } = await open()
    readyMs.push(program.readyMs)
    cpu.push(cpuMs(program.pid))
    await program.end('SIGTERM')
    await drop()
  }
  return { readyMs, cpuMs: cpu }
}

const measureStarts = async (stand: Stand, { results, server }: Scripts): Promise<void> => {
  const { kind: store, arqs } = stand
  const full = await timesOf(async () => ({ program: await stand.startPlain(), drop: async () => {} }))
  results.starts.push({ store, folder: `${arqs.toLocaleString('en')} ARQs present`, ...full })
  if (results.starts.some((one) => one.store === store && one.folder === 'nothing there')) return
  results.starts.push({ store, folder: 'nothing there', ...(await timesOf(() => onNothing(store, server))) })
}

const bindsOf = async (scene: Scene, stand: Stand, hostWork: boolean, { options, results, say }: Scripts) => {
  const { kind: store, arqs } = stand
  for (const lanes of options.concurrency) {
    const found = await measureBinds(scene, lanes, options.seconds)
    const told = `${digits(found.perSecond)}/s, ${digits(found.stages['whole']?.mean ?? 0)} ms, CPU ms program/database/callers ${[found.serverCpuMs, found.databaseCpuMs, found.generatorCpuMs].map(digits).join('/')}`
    say(`${store}, ${arqs} ARQs, ${hostWork ? 'host work' : 'no host work'}, ${lanes} callers: ${told}`)
    if (found.failures.length > 0) say(`  ${found.failures.length} failures: ${found.failures[0]}`)
    results.binds.push({ store, arqs, hostWork, lanes, found, floor: null })
  }
}

const requestsOf = async (scene: Scene, stand: Stand, { options, results, say }: Scripts) => {
  const { kind: store, arqs } = stand
  const lanes = options.concurrency.filter((one, at, all) => one === 1 || at === all.length - 1)
  const gets = await measureGets(scene, lanes, options.seconds)
  gets.forEach((found, at) => results.requests.push({ store, arqs, what: 'GET by instance', lanes: lanes[at]!, found }))
  for (const one of lanes)
    results.requests.push({
      store,
      arqs,
      what: 'POST',
      lanes: one,
      found: await measurePosts(scene, one, options.seconds),
    })
  say(`${store}, ${arqs} ARQs: ${gets.map(({ perSecond }) => `${digits(perSecond)} GET/s`).join(', ')}`)
}

const underLoad = async (stand: Stand, hostWork: boolean, parts: Scripts): Promise<void> => {
  const { options, results, generator, server } = parts
  const program = await stand.start(hostWork, options.profile)
  const databaseCpuMs = () => (stand.kind === 'postgres' ? server!.cpuMs() : 0)
  const scene: Scene = { program, generator, targets: await targetsOf(program), databaseCpuMs }
  await quiet(program.pid)
  await warmUp(scene, options.seconds)
  if (options.parts.includes('binds')) await bindsOf(scene, stand, hostWork, parts)
  if (!hostWork && options.parts.includes('reads')) await requestsOf(scene, stand, parts)
  await quiet(program.pid)
  if (!hostWork && options.parts.includes('memory') && stand.arqs === MEMORY_AT) {
    const what = `${stand.kind === 'postgres' ? 'control on PostgreSQL' : 'embedded'} with 8 simulated hosts, ${MEMORY_AT.toLocaleString('en')} ARQs present, after all its binds`
    results.memory.push({ what, found: memoryOf(program.pid) })
  }
  await program.end('SIGTERM')
}

const atRest = async (stand: Stand, { results }: Scripts): Promise<void> => {
  const program = await stand.startPlain()
  await quiet(program.pid)
  const what = `${stand.kind === 'postgres' ? 'control on PostgreSQL' : 'embedded'}, ${MEMORY_AT.toLocaleString('en')} ARQs present, just started`
  results.memory.push({ what, found: memoryOf(program.pid) })
  await program.end('SIGTERM')
}

export const measureStand = async (stand: Stand, parts: Scripts): Promise<void> => {
  const { options, results, generator, say } = parts
  const { kind: store, arqs } = stand
  const last = arqs === options.arqs.at(-1)
  const wants = (part: Options['parts'][number]): boolean => options.parts.includes(part)
  if (wants('start') && last) await measureStarts(stand, parts)
  if (wants('memory') && arqs === MEMORY_AT) await atRest(stand, parts)
  for (const hostWork of options.hostWork)
    if (wants('binds') || (wants('reads') && !hostWork)) await underLoad(stand, hostWork, parts)
  if (wants('kill') && last) {
    const found = await measureKill(stand, generator, options.inFlight)
    say(`${store}: ${found.inFlight} in flight, all ended after ${digits(found.allMs / 1000)} s`)
    results.kills.push({ store, arqs, found })
  }
  if (wants('rebuild') && last)
    results.rebuilds.push({ store, arqs, said: await command('rebuild-views', stand.place, []) })
}
