/** The operator's policies of cleaning (`cleaning.policies`), as a list with one entry for each driver. Pure. */
import * as v from 'valibot'
import type { CleaningPolicy } from './cleaningCall.ts'

const LIMIT_DEFAULT_SECONDS = 60
const LIMIT_MAX_SECONDS = 3600

const Word = v.pipe(
  v.string('must be text'),
  v.maxLength(4096, 'must not be longer than 4096 characters'),
  v.check((text) => !text.includes('\0'), 'must not hold a NUL'),
)
const COMMAND = 'must be a list of texts, of which the first is the absolute path of a program'
const Command = v.pipe(
  v.tupleWithRest([v.pipe(Word, v.startsWith('/', 'must be an absolute path'))], Word, COMMAND),
  v.check((words) => words.length <= 100, 'must not have more than 100 words'),
)
const Playbook = v.pipe(Word, v.startsWith('/', 'must be the absolute path of a playbook'))
const LIMIT = `must be a number from 1 to ${LIMIT_MAX_SECONDS}`
const Limit = v.pipe(v.number(LIMIT), v.minValue(1, LIMIT), v.maxValue(LIMIT_MAX_SECONDS, LIMIT))

const policyIn = (drivers: readonly string[]) => {
  const driver = v.picklist(drivers, `must be a driver of this release: ${drivers.join(', ')}`)
  const unknown = ({ expected, received }: { readonly expected: string | null; readonly received: string }) =>
    expected === 'never' ? `is not a field of this policy: ${received} is unknown` : 'must be a policy'
  return v.variant(
    'policy',
    [
      v.strictObject({ driver, policy: v.literal('none') }, unknown),
      v.strictObject({ driver, policy: v.literal('quarantine') }, unknown),
      v.strictObject(
        { driver, policy: v.literal('playbook'), playbook: Playbook, timeout_seconds: v.optional(Limit) },
        unknown,
      ),
      v.strictObject(
        { driver, policy: v.literal('command'), command: Command, timeout_seconds: v.optional(Limit) },
        unknown,
      ),
    ],
    'must be a policy: driver, policy (none, command, playbook or quarantine), command or playbook of the policy of that name, and timeout_seconds of these two',
  )
}
const readOne = (given: v.InferOutput<ReturnType<typeof policyIn>>): readonly CleaningPolicy[] => {
  const { driver } = given
  if (given.policy === 'none') return []
  if (given.policy === 'quarantine') return [{ driver, kind: 'quarantine' }]
  const limitMs = (given.timeout_seconds ?? LIMIT_DEFAULT_SECONDS) * 1000
  if (given.policy === 'playbook') return [{ driver, kind: 'playbook', playbook: given.playbook, limitMs }]
  return [{ driver, kind: 'command', command: given.command, limitMs }]
}

/** `problems`: each one names its place and the broken rule. */
export type PoliciesRead = { readonly policies: readonly CleaningPolicy[]; readonly problems: readonly string[] }

/** `given`: the decoded content of the file; an empty file holds no policy. `drivers`: the names of all drivers. */
export const readCleaningPolicies = (given: unknown, drivers: readonly string[]): PoliciesRead => {
  const List = v.pipe(
    v.array(policyIn(drivers), 'must be a list of policies'),
    v.maxLength(50, 'must not have more than 50 policies'),
  )
  const { success, output, issues } = v.safeParse(List, given ?? [], { abortPipeEarly: true })
  if (!success) {
    const problems = issues.slice(0, 20).map((issue) => [v.getDotPath(issue) ?? '', issue.message])
    return { policies: [], problems: problems.map((parts) => parts.filter(Boolean).join(': ')) }
  }
  const twice = output.findIndex(({ driver }, at) => output.findIndex((one) => one.driver === driver) < at)
  return twice < 0
    ? { policies: output.flatMap(readOne), problems: [] }
    : { policies: [], problems: [`${twice}.driver: has a policy already`] }
}
