/** What becomes of the judgement of a host when Placement is asked, for each of its answers. */
import { describe, expect, it } from 'vitest'
import type { JudgedHost, Obstacle } from '../../src/actors/explain/answer.ts'
import type { HostJudgement } from '../../src/actors/explain/host.ts'
import type { CandidateGroup, Placement, PlacementError, PlacementResult } from '../../src/actors/placement/port.ts'
import { withPlacement } from '../../src/services/profiles/explainInPlacement.ts'

const FREE: Obstacle = { code: 'no_free_handle', reason: 'r', change: 'c', stops: ['bind', 'placement'] }
const PENDING: Obstacle = { code: 'placement_pending', reason: 'r', change: 'c', stops: ['placement'] }
const deviceOf = (name: string, ...obstacles: readonly Obstacle[]) =>
  ({ deployable: name, device: name, provider: `rp-${name}`, name, obstacles }) as never
const shown = (more: Partial<JudgedHost> = {}): JudgedHost => ({
  host: 'h1',
  fits: true,
  bind: true,
  placement: true,
  obstacles: [],
  groups: [{ group: 0, fits: true, devices: [deviceOf('a')], leftOut: 0 }],
  ...more,
})
const judged = (more: Partial<JudgedHost> = {}, also: Partial<HostJudgement> = {}): HostJudgement => ({
  shown: shown(more),
  distance: 0,
  isNear: true,
  root: 'root',
  attaches: [],
  all: [[deviceOf('a', PENDING)]],
  bindAccepts: (providers) => providers.includes('rp-a'),
  ...also,
})
type Ways = Awaited<ReturnType<Placement['candidates']>>
type Question = { readonly groups: readonly CandidateGroup[]; readonly tree: string; readonly eligible: boolean }
const trouble = (name: PlacementError): PlacementResult<never> => ({ ok: false, error: name, reason: `it is ${name}` })
const ways = (...all: readonly (readonly string[])[]): Ways => ({ ok: true, value: all })

/** The answers to the question about all ways, and about those whose compute node may be used. */
const asking = async (one: HostJudgement, all: Ways, eligible: Ways = all) => {
  const asked: Question[] = []
  const candidates = async (question: Question) => {
    asked.push(question)
    return question.eligible ? eligible : all
  }
  const placement = { candidates } as unknown as Placement
  const groups = [{ group: { 'resources:FPGA': '2', 'trait:A': 'required', 'trait:B': 'forbidden' }, arqs: [] }]
  const answer = await withPlacement({ placement }, groups as never, [one])
  return { ...answer, asked, host: answer.judged[0]!.shown, all: answer.judged[0]!.all }
}
const refusal = (code: string, reason: string) => ({
  fits: false,
  placement: false,
  obstacles: [expect.objectContaining({ code, reason, stops: ['placement'] })],
})

describe('the judgement of a host', () => {
  it('stands where no Placement is configured', async () => {
    const one = judged()
    expect(await withPlacement({ placement: null }, [], [one])).toEqual({ judged: [one], placement: 'not_configured' })
  })
  it('is asked for by its groups and its compute node, first without and then with the state of the node', async () => {
    const { asked, placement } = await asking(judged(), ways(['rp-a']))
    const groups = [{ resources: { FPGA: 2 }, required: ['A'], forbidden: ['B'] }]
    expect(asked).toEqual([
      { groups, tree: 'root', eligible: false },
      { groups, tree: 'root', eligible: true },
    ])
    expect(placement).toBe('asked')
  })
  it.each<[string, Partial<HostJudgement>]>([
    ['has no compute node', { root: null }],
    ['has no device of the class', { isNear: false }],
  ])('stands without a question when the host %s', async (_, also) => {
    const one = judged({}, also)
    const { asked, judged: now } = await asking(one, ways(['rp-a']))
    expect([asked, now]).toEqual([[], [one]])
  })
  it('is no when Placement offers nothing', async () => {
    const reason = 'Placement offers no candidates on it'
    expect((await asking(judged(), ways())).host).toMatchObject(refusal('not_in_candidates', reason))
    expect((await asking(judged({ placement: null }), ways())).host).toMatchObject(refusal('not_in_candidates', reason))
  })
  it('is no when Placement does not know a name', async () => {
    const { host } = await asking(judged(), trouble('unknownName'))
    expect(host).toMatchObject(refusal('not_in_candidates', 'it is unknownName'))
  })
  it('stands when it was no already', async () => {
    const one = judged({ placement: false, fits: false })
    expect((await asking(one, ways())).judged).toEqual([one])
  })
  it('is no when the compute node may not be used', async () => {
    const { host } = await asking(judged(), ways(['rp-a']), ways())
    const reason = 'its compute node is disabled or does not report COMPUTE_ACCELERATORS'
    expect(host).toMatchObject(refusal('node_not_eligible', reason))
  })
  it.each<PlacementError>(['refused', 'unknownName'])(
    'stands by the first answer when the second question is %s',
    async (name) => {
      const { host, placement } = await asking(judged(), ways(['rp-a']), trouble(name))
      expect([host.fits, host.placement, placement]).toEqual([true, true, 'asked'])
    },
  )
  it('is yes when a bind accepts one of the ways; what only kept Placement from it counts no more', async () => {
    const groups = [
      { group: 0, fits: false, devices: [deviceOf('a', PENDING), deviceOf('b', FREE, PENDING)], leftOut: 0 },
      { group: 1, fits: false, devices: [deviceOf('b', FREE)], leftOut: 0 },
      { group: 2, fits: true, devices: [], leftOut: 3 },
    ]
    const one = judged({ fits: false, placement: null, obstacles: [PENDING, FREE], groups })
    const left = { ...FREE, stops: ['bind'] }
    const { host, all } = await asking(one, ways(['other'], ['rp-a']))
    expect(host).toEqual({
      host: 'h1',
      fits: true,
      bind: true,
      placement: true,
      obstacles: [left],
      groups: [
        { group: 0, fits: true, devices: [deviceOf('a'), deviceOf('b', left as Obstacle)], leftOut: 0 },
        { group: 1, fits: false, devices: [deviceOf('b', left as Obstacle)], leftOut: 0 },
        { group: 2, fits: true, devices: [], leftOut: 3 },
      ],
    })
    expect(all).toEqual([[deviceOf('a')]])
    expect((await asking(one, ways(['other']))).host).toMatchObject({ fits: false, placement: true })
  })
  it.each<PlacementError>(['unanswered', 'denied', 'refused'])(
    'is not known when the first question is %s, nor is that of any other host',
    async (name) => {
      const { host, placement } = await asking(judged(), trouble(name))
      expect([host.fits, host.placement, placement]).toEqual([true, null, 'unreachable'])
    },
  )
  it.each<PlacementError>(['unanswered', 'denied'])('is not known when the second question is %s', async (name) => {
    const { host, placement } = await asking(judged(), ways(['rp-a']), trouble(name))
    expect([host.placement, placement]).toEqual([null, 'unreachable'])
  })
  it('is asked for of eight hosts at once', async () => {
    let [running, most] = [0, 0]
    const candidates = async (): Promise<Ways> => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      return ways(['rp-a'])
    }
    const placement = { candidates } as unknown as Placement
    const hosts = Array.from({ length: 20 }, (_, n) => judged({ host: `h${n}` }))
    const answer = await withPlacement({ placement }, [], hosts)
    expect(most).toBe(8)
    expect(answer.judged.map(({ shown: { host } }) => host)).toEqual(hosts.map(({ shown: { host } }) => host))
  })
})
