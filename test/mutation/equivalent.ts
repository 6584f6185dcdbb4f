/**
 * Mutants that no test can notice, each with the reason: the program does the same with them. They are not counted. A
 * mutant is known by its file, by the line it is in (without the blanks around it) and by what it replaces by what.
 */
import type { Mutant } from './mutants.ts'
import { SAVING } from './saving.ts'

export type Equivalent = {
  readonly path: string
  readonly line: string
  readonly original: string
  readonly mutated: string
  readonly reason: string
}

export const EQUIVALENT: readonly Equivalent[] = [
  ...SAVING,
  {
    path: 'src/uuid.ts',
    line: ".replace(/^(urn:)?(uuid:)?/, '')",
    original: '/^(urn:)?(uuid:)?/',
    mutated: '/(urn:)?(uuid:)?/',
    reason: 'both parts may be absent, so the first match is at the start',
  },
  {
    path: 'src/cli/operators/timelineDrawing.ts',
    line: 'const longest = steps.reduce((most, { step }) => Math.max(most, step.length), 0)',
    original: '0',
    mutated: '1',
    reason: 'every step has a name, and without steps no line is drawn',
  },
  {
    path: 'src/actors/runtime/region.ts',
    line: "key.replaceAll(/[^A-Za-z0-9_-]/g, (c) => (c === '/' ? '.' : `$${c.codePointAt(0)!.toString(16)}.`))",
    original: '`$${c.codePointAt(0)!.toString(16)}.`',
    mutated: '``',
    reason: 'the name is for people; a number that follows it makes it unique',
  },
  {
    path: 'src/bus/kafka/member.ts',
    line: 'const RETRY = { retries: 5, initialRetryTime: 100, maxRetryTime: 1000, restartOnFailure: async () => false }',
    original: 'retries: 5, ',
    mutated: '',
    reason: 'it is what kafkajs does by itself, except where NODE_ENV is test',
  },
  {
    path: 'src/audit/positions.ts',
    line: 'if (x !== y) return x < y',
    original: '<',
    mutated: '<=',
    reason: 'the two are not equal here',
  },
  {
    path: 'src/audit/arqs.ts',
    line: 'const states = profileStates(history, profileUuid, 0, rowCount)',
    original: '0',
    mutated: '1',
    reason: 'the state before the first row has no groups',
  },
  {
    path: 'src/audit/arqs.ts',
    line: 'const named = profileStates(history, profileUuid, 0, rowCount)',
    original: '0',
    mutated: '1',
    reason: 'the state before the first row has no versions',
  },
  {
    path: 'src/audit/arqs.ts',
    line: 'target?.rpUuid === bond.deviceRpUuid &&',
    original: '?.',
    mutated: '!.',
    reason: 'the target is known wherever there is a bond',
  },
  {
    path: 'src/audit/clients.ts',
    line: 'const states = wanted && asked.device ? deviceStates(history, asked.device, asked.from, asked.to) : []',
    original: 'wanted && asked.device',
    mutated: '(asked.device)',
    reason: 'the states are looked at only where one is wanted',
  },
  {
    path: 'src/audit/clients.ts',
    line: 'const isLeft = (uuid: ArqUuid) => arqStates(history, uuid, to, to).some(known) && !excuses.answer(asked, uuid)',
    original: 'some',
    mutated: 'every',
    reason: 'at one moment there is one state',
  },
  {
    path: 'src/audit/hosts.ts',
    line: 'const last = highest.get(step.slot) ?? 0',
    original: '0',
    mutated: '1',
    reason: 'orders are numbered from 1',
  },
  {
    path: 'src/audit/topics.ts',
    line: 'const change = decider.rows(decider.initial, state).findLast((one) => one.view === view)',
    original: 'findLast',
    mutated: 'find',
    reason: 'an entity has one row in its view',
  },
  {
    path: 'src/audit/linearize.ts',
    line: 'const idle = led.find(',
    original: 'find',
    mutated: 'findLast',
    reason: 'whichever of them comes first, the others can still follow',
  },
  {
    path: 'src/audit/linearize.ts',
    line: 'const hash = done.reduce((all, one) => all ^ mark[one]!, 0n)',
    original: '0n',
    mutated: '1n',
    reason: 'hashes are only compared with each other',
  },
  {
    path: 'src/audit/linearize.ts',
    line: 'Number(sorted[b]!.must) - Number(sorted[a]!.must) || sorted[a]!.to - sorted[b]!.to',
    original: '-',
    mutated: '+',
    reason: 'it decides only which order is tried first',
  },
  {
    path: 'src/actors/host/held.ts',
    line: 'if (back.size === 0 && left.length === 0) return departed',
    original: 'back.size === 0 && left.length === 0',
    mutated: 'false',
    reason: 'what follows gives an equal list',
  },
  {
    path: 'src/actors/instance/decider.ts',
    line: '...(instance.open?.since === undefined ? {} : { since: instance.open.since }),',
    original: '?.',
    mutated: '!.',
    reason: 'only an open conversation is settled',
  },
  {
    path: 'src/actors/deployable/granting.ts',
    line: "if (handles.some(({ physfn, unseen }) => physfn !== undefined || unseen)) taken.add('taken', takenHandles(held))",
    original: "'taken'",
    mutated: "''",
    reason: 'any name but that of the other owner does',
  },
  {
    path: 'src/actors/deployable/granting.ts',
    line: "const isFree = (one: SlotHandle): boolean => one.state === 'free' && taken.against('free', [one]) === null",
    original: "'free'",
    mutated: "''",
    reason: 'as the owner: any name but that of the other owner does; as the state it does not compile',
  },
  {
    path: 'src/actors/deployable/decider.ts',
    line: 'const attribute = held.attributes.find((one) => one.uuid === uuid)',
    original: 'find',
    mutated: 'findLast',
    reason: 'a UUID names one attribute',
  },
  {
    path: 'src/actors/inventory/reconcile.ts',
    line: 'return (isVirtual(device) ? 0 : 3) + (held ? (held.driver === driver ? 0 : 1) : 2)',
    original: '3',
    mutated: '4',
    reason: 'ranks are only compared with each other',
  },
  {
    path: 'src/services/arqs/prebound.ts',
    line: "if (granted?.type !== 'Granted') throw new Error('a grant that was accepted names no handle')",
    original: "granted?.type !== 'Granted'",
    mutated: 'false',
    reason: 'a grant that was accepted names a handle; the check is for the compiler',
  },
  {
    path: 'src/services/arqs/prebound.ts',
    line: "if (granted?.type !== 'Granted') throw new Error('a grant that was accepted names no handle')",
    original: '?.',
    mutated: '!.',
    reason: 'a grant that was accepted names a handle; the check is for the compiler',
  },
  {
    path: 'src/services/arqs/prebound.ts',
    line: "if (granted?.type !== 'Granted') throw new Error('a grant that was accepted names no handle')",
    original: "throw new Error('a grant that was accepted names no handle')",
    mutated: ';',
    reason: 'a grant that was accepted names a handle; the check is for the compiler',
  },
  {
    path: 'src/services/arqs/prebound.ts',
    line: 'const answer = { failed: null, final: true, retryBy: draft.at }',
    original: 'true',
    mutated: 'false',
    reason: 'whether a failure is final: here nothing has failed',
  },
  {
    path: 'src/services/arqs/prebound.ts',
    line: "Object.values(memoryOf(deployable, memory)?.state.handles ?? {}).filter(({ state }) => state === 'free').length",
    original: '?.',
    mutated: '!.',
    reason: 'the memory is that of a deployable',
  },
  {
    path: 'src/services/arqs/bind.ts',
    line: 'held.bond?.hostname === hostname &&',
    original: '?.',
    mutated: '!.',
    reason: 'whatever is Bound or being bound has a bond',
  },
  {
    path: 'src/services/reports/admission.ts',
    line: "if (recorded.value?.event) log.info({ host: name, key: signer, enrollment }, 'host.keyPresented')",
    original: '?.',
    mutated: '!.',
    reason: 'the command has an id of its own, so that it was not carried out before',
  },
  {
    path: 'src/services/reports/admission.ts',
    line: 'const now = recorded.value?.state ?? held',
    original: '?.',
    mutated: '!.',
    reason: 'the command has an id of its own, so that it was not carried out before',
  },
  {
    path: 'src/cli/config/rules.ts',
    line: "isDemo(demo) && /^sim-\\d+$/.test(host.name ?? '') && ['must not be the name of a simulated host (sim-1, ...)'],",
    original: "''",
    mutated: "'mutated'",
    reason: 'a host without a name is no simulated host',
  },
  {
    path: 'src/cli/config/rules.ts',
    line: 'const set = given.filter((each) => each !== null).length',
    original: '!==',
    mutated: '===',
    reason: 'none or all of three are set just when all or none of them are not set',
  },
  {
    path: 'src/actors/runtime/region.ts',
    line: 'spawn(system, (state: null) => state, `shard-${at}`),',
    original: '`shard-${at}`',
    mutated: '``',
    reason: 'the name is for people; an actor without one gets one',
  },
  {
    path: 'src/services/arqs/conclude.ts',
    line: 'if (bond.deployable !== report.deployable) return false',
    original: 'false',
    mutated: 'true',
    reason: 'Nova is looked at once more, and nothing of the instance is due',
  },
  {
    path: 'src/actors/inventory/describe.ts',
    line: 'parts: deployables.reduce((sum, { attributes, handles }) => sum + attributes.length + handles.length, 0),',
    original: '0',
    mutated: '1',
    reason: 'it is how many UUIDs are made at most: one more is made, and not used',
  },
  {
    path: 'src/neighbours/openstack/placementAnswers.ts',
    line: 'v.transform(({ versions: [{ min_version: lowest, max_version: highest } = { min_version: 0, max_version: 0 }] }) => ({',
    original: '0',
    mutated: '1',
    reason: 'the list is not empty; what stands for its first is for the compiler',
  },
  {
    path: 'src/cli/observe/telemetrySettings.ts',
    line: 'const sampler = SAMPLERS.find((name) => name === wanted)',
    original: 'find',
    mutated: 'findLast',
    reason: 'no two samplers have the same name',
  },
]

export const isKnown = (
  known: readonly Equivalent[],
  { path, line, original, mutated }: Mutant,
  text: string,
): boolean =>
  known.some(
    (one) =>
      one.path === path &&
      one.original === original &&
      one.mutated === mutated &&
      one.line === text.split('\n')[line - 1]?.trim(),
  )
