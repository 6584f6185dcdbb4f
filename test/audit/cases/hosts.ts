/** A case for each condition of the invariants of `src/audit/hosts.ts`, and of S12. */
import type { Evidence, HostStep, HostTrace } from '../../../src/audit/evidence.ts'
import type { Finding } from '../../../src/audit/history.ts'
import {
  type Append,
  type Case,
  type Fact,
  board,
  deployable,
  done,
  entry,
  granted,
  here,
  of,
  order,
  described,
  recorded,
  released,
} from './scene.ts'

const BY = 'comparison with the host'
export const noted = (number: number, more: object = {}): HostStep => ({
  did: 'noted',
  slot: 'h1',
  number,
  done: true,
  ...more,
})
const did = (what: 'prepare' | 'release' | 'program' | 'reported', number: number, slot = 'h1'): HostStep => ({
  did: what,
  slot,
  number,
})
const starts: HostStep = { did: 'started', boot: 'boot' }
export const trace = (...steps: readonly HostStep[]): Partial<Evidence> => ({ hosts: [{ name: 'host1', steps }] })
export const onHost = (step: HostStep | null, line: string, keys: readonly string[] = []): Finding => ({
  found: `host host1: ${line}`,
  keys,
  proof: [{ of: 'host', host: 'host1', step }],
})

const fenced: readonly Case[] = [
  ['S5', 'numbers rise', trace(noted(1), did('prepare', 1), noted(2), did('release', 2)), []],
  [
    'S5',
    'an older order is noted',
    trace(noted(2), noted(1)),
    [onHost(noted(1), 'order 1 of h1 was noted after order 2')],
  ],
  ['S5', 'the same order is noted', trace(noted(2), noted(2)), []],
  [
    'S5',
    'an older order is noted and does not become the newest',
    trace(noted(3), noted(1), noted(2)),
    [
      onHost(noted(1), 'order 1 of h1 was noted after order 3'),
      onHost(noted(2), 'order 2 of h1 was noted after order 3'),
    ],
  ],
  [
    'S5',
    'an older order is carried out',
    trace(noted(2), did('release', 1)),
    [onHost(did('release', 1), 'release of h1 by order 1, after order 2 was noted')],
  ],
  [
    'S5',
    'an older order is carried out after a start',
    trace(noted(2), starts, did('prepare', 1)),
    [onHost(did('prepare', 1), 'prepare of h1 by order 1, after order 2 was noted')],
  ],
  ['S5', 'the result of an older order is reported', trace(noted(2), did('reported', 1)), []],
  ['S5', 'an older order of another slot', trace(noted(2), noted(1, { slot: 'h2' }), did('prepare', 1, 'h2')), []],
  ['S5', 'an order is carried out that was not noted', trace(did('prepare', 1)), []],
]

const picture = (host: string, bootId: string, number: number): Append =>
  entry(`host/${host}`, {
    type: 'PictureRecorded',
    name: host,
    picture: { bootId, number, digest: '', aliases: [], drivers: {} },
    devices: {},
  })
const liveness = entry('host/x', { type: 'LivenessSet', liveness: 'stale', by: 'us' })
const numbered: readonly Case[] = [
  [
    'I10',
    'numbers rise, start by start',
    of(picture('x', 'b1', 1), picture('x', 'b1', 2), picture('x', 'b2', 1), liveness, picture('x', 'b2', 2)),
    [],
  ],
  [
    'I10',
    'a report is taken twice',
    of(picture('x', 'b1', 2), picture('x', 'b1', 2)),
    [here(2, ['host/x'], 'host/x took report 2 after 2')],
  ],
  [
    'I10',
    'an older report is taken',
    of(picture('x', 'b1', 2), picture('x', 'b1', 1)),
    [here(2, ['host/x'], 'host/x took report 1 after 2')],
  ],
  [
    'I10',
    'an older report of the present start',
    of(picture('x', 'b1', 1), picture('x', 'b2', 2), picture('x', 'b2', 1)),
    [here(3, ['host/x'], 'host/x took report 1 after 2')],
  ],
  [
    'I10',
    'a former start comes back',
    of(picture('x', 'b1', 1), picture('x', 'b2', 1), picture('x', 'b1', 2)),
    [here(3, ['host/x'], 'host/x went back to start b1')],
  ],
  ['I10', 'each host counts for itself', of(picture('x', 'b1', 2), picture('y', 'b1', 1), picture('y', 'b1', 2)), []],
]

const written: readonly Case[] = [
  ['S6', 'what is reported is noted', trace(noted(1), did('reported', 1)), []],
  ['S6', 'what is reported was noted before a start', trace(noted(1), starts, did('reported', 1)), []],
  [
    'S6',
    'a result is reported that is not noted',
    trace(did('reported', 1)),
    [onHost(did('reported', 1), 'the result of h1 1 was reported before it was noted')],
  ],
  [
    'S6',
    'a result is reported of an order that is noted as not done',
    trace(noted(1, { done: false }), did('reported', 1)),
    [onHost(did('reported', 1), 'the result of h1 1 was reported before it was noted')],
  ],
  [
    'S6',
    'a result is reported of another order',
    trace(noted(1), did('reported', 2)),
    [onHost(did('reported', 2), 'the result of h1 2 was reported before it was noted')],
  ],
  [
    'S6',
    'a result is reported of another slot',
    trace(noted(1), did('reported', 1, 'h2')),
    [onHost(did('reported', 1, 'h2'), 'the result of h2 1 was reported before it was noted')],
  ],
  ['S6', 'an order is only carried out', trace(did('prepare', 1)), []],
]

const plainBoard = deployable('d1', recorded({ description: described(['h1', 'h2'], { hostWork: false }) }))
const held = (by: object | null = null) => deployable('d1', granted('h1', 'a1', by))
const prepared = (
  slots: readonly string[] | null,
  journal: Partial<Evidence>,
  more: Partial<HostTrace> = {},
): Partial<Evidence> => ({
  ...journal,
  quiet: true,
  hosts: [{ name: 'host1', steps: [], ...(slots ? { prepared: slots } : {}), ...more }],
})
const marked = (by: string) =>
  deployable('d1', { type: 'HandleQuarantined', handle: 'h1', until: 'released', by, reason: 'r' })
const leaving = deployable('d1', released('h1', 'a1', order('h1', 1)))
const care = (how: 'retired' | 'restored', host = 'host1') =>
  entry(`host/${host}`, { type: 'LivenessSet', liveness: 'alive', by: 'op', care: how })
const without = onHost(null, 'slot h1 is held and not prepared', ['deployable/d1'])
const still = onHost(null, 'slot h1 is free and still prepared', ['deployable/d1'])
const emptied: Fact = { type: 'DeployableDescribed', description: described([]) }
const lostSight: Fact = { type: 'PresenceSet', presence: 'missing' }
const level: readonly Case[] = [
  ['L4', 'what is held is prepared', prepared(['h1'], of(board, held())), []],
  ['L4', 'what is held is not prepared', prepared([], of(board, held())), [without]],
  ['L4', 'what is free is prepared', prepared(['h1'], of(board)), [still]],
  ['L4', 'what is free is prepared, of one that needs no work otherwise', prepared(['h1'], of(plainBoard)), [still]],
  ['L4', 'it was held before', prepared(['h1'], of(board, held(), deployable('d1', released()))), [still]],
  ['L4', 'what is held waits for its order', prepared([], of(board, held(order('h1', 1)))), []],
  ['L4', 'what is being released is prepared', prepared(['h1'], of(board, held(), leaving)), []],
  ['L4', 'its host could not prepare it again', prepared([], of(board, held(), marked(BY))), []],
  ['L4', 'an operator has marked it', prepared([], of(board, held(), marked('op'))), [without]],
  ['L4', 'its host is retired', prepared([], of(board, held(), care('retired'))), []],
  ['L4', 'its retired host has what is free', prepared(['h1'], of(board, care('retired'))), [still]],
  ['L4', 'its host is back', prepared([], of(board, held(), care('retired'), care('restored'))), [without]],
  ['L4', 'another host is retired', prepared([], of(board, held(), care('retired', 'host2'))), [without]],
  ['L4', 'nobody looked', prepared(null, of(board, held())), []],
  ['L4', 'another host was looked at', prepared([], of(board, held()), { name: 'host2' }), []],
  ['L4', 'its host does not show it', prepared([], of(board, held(), deployable('d1', emptied))), []],
  ['L4', 'its device is missing', prepared([], of(board, held(), deployable('d1', lostSight))), []],
  ['L4', 'it needs no work on its host', prepared([], of(plainBoard, held())), []],
  ['L4', 'it is not quiet', { ...of(board, held()), hosts: [{ name: 'host1', steps: [], prepared: [] }] }, []],
]

const waits = (line: string): Finding => ({ found: `deployable board${line}`, keys: ['deployable/d1'] })
const quiet = (journal: Partial<Evidence>, more: Partial<Evidence> = {}): Partial<Evidence> => ({
  ...journal,
  quiet: true,
  ...more,
})
const programming: Fact = { type: 'ProgramStarted', image: 'image', order: order('d1', 1) }
const releasing = of(board, held(), deployable('d1', released('h1', 'a1', order('h1', 2))))
const answered: readonly Case[] = [
  [
    'L5',
    'two orders wait: the first is named',
    quiet(of(board, held(order('h1', 1)), deployable('d1', granted('h2', 'a2', order('h2', 1))))),
    [waits(': handle h1 is held, order 1 waits')],
  ],
  ['L5', 'nothing waits', quiet(of(board, held(order('h1', 1)), deployable('d1', done()))), []],
  ['L5', 'an order waits', quiet(of(board, held(order('h1', 1)))), [waits(': handle h1 is held, order 1 waits')]],
  ['L5', 'a release waits', quiet(releasing), [waits(': handle h1 is releasing, order 2 waits')]],
  [
    'L5',
    'a release without an order waits',
    quiet(
      of(
        board,
        held(),
        deployable('d1', released('h1', 'a1', order('h1', 2)), {
          type: 'DeployableDescribed',
          description: { ...(recorded()['description'] as object), handles: [{ uuid: 'h1', pending: null }] },
        }),
      ),
    ),
    [waits(': handle h1 is releasing, order none waits')],
  ],
  ['L5', 'an image waits', quiet(of(board, deployable('d1', programming))), [waits(' waits for image image')]],
  ['L5', 'its host is not able', quiet(releasing, { unable: ['host1'] }), []],
  [
    'L5',
    'another host is not able',
    quiet(releasing, { unable: ['host2'] }),
    [waits(': handle h1 is releasing, order 2 waits')],
  ],
  ['L5', 'it is not quiet', releasing, []],
]

const given = of(board, held(order('h1', 1)))
const over = of(
  board,
  held(order('h1', 1)),
  deployable('d1', done()),
  deployable('d1', released('h1', 'a1', order('h1', 2))),
  deployable('d1', done('h1', 2)),
)
const nobody = (step: HostStep) =>
  onHost(step, `order ${step.did === 'noted' ? step.number : ''} of h1 is on its disk, and nobody recorded it`)
const behind = (step: HostStep, number: number) =>
  onHost(step, `order 2 of h1 is recorded as done, its disk knows ${number}`, ['deployable/d1'])
const agreed: readonly Case[] = [
  ['S5 disk', 'what is on the disk is recorded', { ...given, ...trace(noted(1, { done: false })), quiet: true }, []],
  [
    'S5 disk',
    'the disk holds an order that nobody gave',
    { ...given, ...trace(noted(1), noted(3)), quiet: true },
    [nobody(noted(3))],
  ],
  ['S5 disk', 'the disk may be ahead while the system works', { ...given, ...trace(noted(3)) }, []],
  ['S5 disk', 'the last order is what counts', { ...given, ...trace(noted(3), noted(1)), quiet: true }, []],
  [
    'S5 disk',
    'an order of another slot',
    { ...given, ...trace(noted(1, { slot: 'h2' })), quiet: true },
    [onHost(noted(1, { slot: 'h2' }), 'order 1 of h2 is on its disk, and nobody recorded it')],
  ],
  ['S5 disk', 'what is recorded as done is on the disk', { ...over, ...trace(noted(1), noted(2)), quiet: true }, []],
  [
    'S5 disk',
    'the disk is ahead of what is recorded as done',
    { ...of(board, held(order('h1', 1)), deployable('d1', done())), ...trace(noted(2, { done: false })) },
    [],
  ],
  ['S5 disk', 'the disk knows only an older order', { ...over, ...trace(noted(1)) }, [behind(noted(1), 1)]],
  [
    'S5 disk',
    'the disk knows the order as not done',
    { ...over, ...trace(noted(2, { done: false })) },
    [behind(noted(2, { done: false }), 2)],
  ],
  [
    'S5 disk',
    'the disk knows an older order as not done',
    { ...over, ...trace(noted(1, { done: false })) },
    [behind(noted(1, { done: false }), 1)],
  ],
  ['S5 disk', 'a disk without orders', { ...over, ...trace(starts, did('reported', 9)), quiet: true }, []],
  [
    'S5 disk',
    'orders are given by every event that carries one',
    {
      ...of(
        board,
        held(order('h1', 1)),
        deployable('d1', { type: 'OrderFailed', slot: 'h1', number: 1, reason: 'r', again: order('h1', 2) }),
        deployable('d1', programming),
      ),
      ...trace(noted(2), noted(1, { slot: 'd1' })),
      quiet: true,
    },
    [],
  ],
]

const second = (rowCount: number, what: string) =>
  here(rowCount, ['deployable/d1'], `deployable/d1 recorded a second result of order ${what}`)
const orderFailed: Fact = { type: 'OrderFailed', slot: 'h1', number: 1, reason: 'r', again: null }
const programmed: Fact = { type: 'Programmed', image: 'image', number: 1 }
const programFailed: Fact = { type: 'ProgramFailed', image: 'image', number: 1, reason: 'r' }
const results: readonly Case[] = [
  [
    'S12',
    'each order has one result',
    of(
      board,
      deployable('d1', done()),
      deployable('d1', done('h1', 2)),
      deployable('d1', done('h2', 1)),
      deployable('d1', programmed),
    ),
    [],
  ],
  ['S12', 'an order is done twice', of(board, deployable('d1', done()), deployable('d1', done())), [second(3, 'h1 1')]],
  ['S12', 'an order is done twice in one row', of(board, deployable('d1', done(), done())), [second(2, 'h1 1')]],
  [
    'S12',
    'an order fails and is done',
    of(board, deployable('d1', orderFailed), deployable('d1', done())),
    [second(3, 'h1 1')],
  ],
  [
    'S12',
    'an image is written twice',
    of(board, deployable('d1', programmed), deployable('d1', programmed)),
    [second(3, 'itself 1')],
  ],
  [
    'S12',
    'an image is written and fails',
    of(board, deployable('d1', programmed), deployable('d1', programFailed)),
    [second(3, 'itself 1')],
  ],
  [
    'S12',
    'another image is written',
    of(board, deployable('d1', programmed), deployable('d1', { ...programmed, number: 2 })),
    [],
  ],
  ['S12', 'other facts may repeat', of(board, held(), held()), []],
]
const again = (step: HostStep, what: string) => onHost(step, `${what} twice in one start`)
const late = (step: HostStep, what: string) => onHost(step, `${what} after its result was recorded`)
const deeds: readonly Case[] = [
  [
    'S12',
    'a host acts once for each order',
    trace(
      noted(1, { done: false }),
      did('prepare', 1),
      noted(1),
      did('reported', 1),
      did('release', 2),
      did('prepare', 1, 'h2'),
    ),
    [],
  ],
  [
    'S12',
    'a host prepares twice',
    trace(did('prepare', 1), did('prepare', 1)),
    [again(did('prepare', 1), 'prepare of h1 by order 1')],
  ],
  ['S12', 'a host releases, and prepares for the same order', trace(did('release', 1), did('prepare', 1)), []],
  ['S12', 'a host begins anew after a start', trace(did('prepare', 1), starts, did('prepare', 1)), []],
  [
    'S12',
    'a host acts after the result',
    trace(noted(1), did('prepare', 1)),
    [late(did('prepare', 1), 'prepare of h1 by order 1')],
  ],
  [
    'S12',
    'a host acts after a start although the result was recorded',
    trace(noted(1), starts, did('program', 1)),
    [late(did('program', 1), 'program of h1 by order 1')],
  ],
  [
    'S12',
    'a host tells and notes as often as it likes',
    trace(noted(1), noted(1), did('reported', 1), did('reported', 1)),
    [],
  ],
]

export const hostCases: readonly Case[] = [
  ...fenced,
  ...numbered,
  ...written,
  ...level,
  ...answered,
  ...agreed,
  ...results,
  ...deeds,
]
