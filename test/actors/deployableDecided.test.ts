/** What is decided of a deployable. */
import { describe, expect, it } from 'vitest'
import { type Fact, described, done, granted, order, recorded, released } from '../audit/cases/scene.ts'
import { type Case, deciding } from './decided.ts'

const { decide } = deciding('deployable')
const made = recorded()
const quiet = recorded({ description: described(['h1', 'h2'], { hostWork: false }) })
const plain = recorded({ description: described(['h1', 'h2'], { programmable: false }) })
const fails: Fact = { type: 'HealthSet', failing: 'hot' }
const status = (to: string): Fact => ({ type: 'StatusSet', status: to })
const presence = (to: string, more: object = {}): Fact => ({ type: 'PresenceSet', presence: to, ...more })
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const prepares = (slot: string, number: number, more: object = {}) =>
  order(slot, number, { type: 'PrepareSlot', arq: 'a1', requestId: 'req-1', ...more })
const programs: Fact = {
  type: 'ProgramStarted',
  image: 'image',
  order: { ...order('d1', 1, { type: 'Program', image: 'image', requestId: 'req-1' }), handle: undefined },
}
const grant = (more: object = {}): Fact => ({
  type: 'Grant',
  arq: 'a1',
  bitstream: null,
  deadline: 9000,
  requestId: 'req-1',
  ...more,
})
const release = (arq: string, more: object = {}): Fact => ({ type: 'Release', arq, deadline: 9000, ...more })
const answer = (slot: string, number: number, more: object = {}): Fact => ({
  type: 'Answer',
  slot,
  number,
  failed: null,
  final: false,
  retryBy: 9000,
  ...more,
})
const failed = (again: object | null, number = 2): Fact => ({
  type: 'OrderFailed',
  slot: 'h1',
  number,
  reason: 'r',
  again,
})
const program = (more: object = {}): Fact => ({
  type: 'Program',
  image: 'image',
  deadline: 9000,
  requestId: 'req-1',
  ...more,
})
const WORD = { by: 'op', reason: 'r' }
const keeps = (until: string, handle = 'h1'): Fact => ({ type: 'HandleQuarantined', handle, until, ...WORD })
const conflict = (why: string) => ({ kind: 'conflict', reason: `deployable board: ${why}` })
const gone = (id: string) => ({ kind: 'not_found', resource: 'deployable', id })
const held = [made, granted('h1', 'a1', prepares('h1', 1)), done()] as const
const releasing = [...held, released('h1', 'a1', order('h1', 2))] as const
const stuck = [...releasing, failed(null)] as const
const IN_USE = 'a request uses it, so it cannot be programmed now'
const attribute = { uuid: 'x', key: 'k', value: 'v' }
const rcOf = (origin: string, key = 'rc') =>
  recorded({ description: described(['h1'], { attributes: [{ uuid: 'x', key, value: 'v', origin }] }) })

const itself: readonly Case[] = [
  ['is recorded', [], { ...made, type: 'Record' }, [made]],
  ['is recorded once', [made], { ...made, type: 'Record' }, []],
  ['that is not there is not found', [], status('enabled'), gone('')],
  [
    'that is retired is not found',
    [made, presence('retired')],
    { type: 'SetStatus', status: 'maintaining' },
    gone('d1'),
  ],
  [
    'that is retired comes back',
    [made, presence('retired')],
    { type: 'SetPresence', presence: 'present' },
    [presence('present')],
  ],
  [
    'that is retired comes back with its image',
    [made, presence('retired')],
    { type: 'SetPresence', presence: 'present', bitstreamId: 'image' },
    [presence('present', { bitstreamId: 'image' })],
  ],
  [
    'that was missing comes back without a word of its image',
    [made, presence('missing')],
    { type: 'SetPresence', presence: 'present', bitstreamId: 'image' },
    [presence('present')],
  ],
  ['is missing once', [made, presence('missing')], { type: 'SetPresence', presence: 'missing' }, []],
  [
    'is described',
    [made],
    { type: 'Describe', description: described() },
    [{ type: 'DeployableDescribed', description: described() }],
  ],
  ['is disabled', [made], { type: 'SetStatus', status: 'maintaining' }, [status('maintaining')]],
  ['fails', [made], { type: 'SetHealth', failing: 'hot' }, [fails]],
  ['fails once', [made, fails], { type: 'SetHealth', failing: 'hot' }, []],
  ['does not fail, as before', [made], { type: 'SetHealth', failing: null }, []],
  ['is well again', [made, fails], { type: 'SetHealth', failing: null }, [{ type: 'HealthSet', failing: null }]],
  ['is disabled once', [made, status('maintaining')], { type: 'SetStatus', status: 'maintaining' }, []],
  [
    'gets an attribute',
    [made],
    { type: 'AddAttribute', attribute },
    [{ type: 'AttributeAdded', attribute: { ...attribute, origin: 'operator' } }],
  ],
  [
    'has an attribute of a name once',
    [made],
    { type: 'AddAttribute', attribute: { ...attribute, key: 'rc' } },
    { kind: 'exists', resource: 'attribute', field: 'key', value: 'rc' },
  ],
  [
    'loses an attribute',
    [rcOf('driver', 'trait1')],
    { type: 'RemoveAttribute', uuid: 'x' },
    [{ type: 'AttributeRemoved', uuid: 'x' }],
  ],
  [
    'loses the class that an operator gave it',
    [rcOf('operator')],
    { type: 'RemoveAttribute', uuid: 'x' },
    [{ type: 'AttributeRemoved', uuid: 'x' }],
  ],
  [
    'keeps the class that its driver gave it',
    [rcOf('driver')],
    { type: 'RemoveAttribute', uuid: 'x' },
    conflict('its driver reports its resource class'),
  ],
  [
    'loses no attribute that it has not',
    [made],
    { type: 'RemoveAttribute', uuid: 'x' },
    { kind: 'not_found', resource: 'attribute', id: 'x' },
  ],
]

const granting: readonly Case[] = [
  ['grants its first free handle', [made], grant(), [granted('h1', 'a1', prepares('h1', 1))]],
  ['grants the next one', held, grant({ arq: 'a2' }), [granted('h2', 'a2', prepares('h2', 2, { arq: 'a2' }))]],
  [
    'grants with the trace of the bind',
    [made],
    grant({ trace: TRACE }),
    [granted('h1', 'a1', prepares('h1', 1, { trace: TRACE }))],
  ],
  ['grants without an order', [quiet], grant(), [granted()]],
  [
    'grants with an image',
    [made],
    grant({ bitstream: 'image' }),
    [granted('h1', 'a1', prepares('h1', 1, { bitstream: 'image' }))],
  ],
  [
    'grants with an image although it needs no other work',
    [quiet],
    grant({ bitstream: 'image' }),
    [granted('h1', 'a1', prepares('h1', 1, { bitstream: 'image' }))],
  ],
  [
    'grants with the image it has, and has it loaded should the card have lost it',
    [recorded({ bitstreamId: 'image' })],
    grant({ bitstream: 'image' }),
    [granted('h1', 'a1', prepares('h1', 1, { bitstream: 'image' }))],
  ],
  ['that cannot be programmed grants without an image', [plain], grant(), [granted('h1', 'a1', prepares('h1', 1))]],
  [
    'that cannot be programmed grants with no image',
    [plain],
    grant({ bitstream: 'image' }),
    conflict('it cannot be programmed'),
  ],
  [
    'in use is not programmed for another',
    held,
    grant({ bitstream: 'image' }),
    conflict('another request uses it, so it cannot be programmed now'),
  ],
  ['in maintenance grants nothing', [made, status('maintaining')], grant(), conflict('its device is in maintenance')],
  ['that fails grants nothing', [made, fails], grant(), conflict('its device is failing: hot')],
  ['that is missing grants nothing', [made, presence('missing')], grant(), conflict('its device is missing')],
  ['that is being programmed grants nothing', [made, programs], grant(), conflict('it is being programmed')],
  [
    'whose image comes with a grant grants nothing meanwhile',
    [made, granted('h1', 'a1', prepares('h1', 1, { bitstream: 'image' }))],
    grant(),
    conflict('it is being programmed'),
  ],
  ['without a free handle grants nothing', [...held, granted('h2', 'a2')], grant(), conflict('no free attach handle')],
  [
    'grants no handle whose hardware is taken under another name',
    [
      recorded({
        description: described([
          { uuid: 'h1', info: { domain: '0000', bus: '01', device: '00', function: '0' } },
          { uuid: 'h2', info: { domain: '0000', bus: '01', device: '00', function: '0' } },
        ]),
      }),
      granted('h1', 'a1'),
      {
        type: 'DeployableDescribed',
        description: described([{ uuid: 'h2', info: { domain: '0000', bus: '01', device: '00', function: '0' } }]),
      },
    ],
    grant({ arq: 'a2' }),
    conflict('no free attach handle'),
  ],
]

const twoStuck: readonly Fact[] = [
  ...stuck,
  granted('h2', 'a2', prepares('h2', 3)),
  released('h2', 'a2', order('h2', 4)),
  { type: 'OrderFailed', slot: 'h2', number: 4, reason: 'r', again: null },
]
const force = (reachable: boolean, arq = 'a1'): Fact => ({
  type: 'ForceRelease',
  arq,
  deadline: 9000,
  reachable,
  ...WORD,
})
const releases: readonly Case[] = [
  ['releases with an order', held, release('a1'), [released('h1', 'a1', order('h1', 2))]],
  [
    'releases with the trace of the unbind',
    held,
    release('a1', { trace: TRACE }),
    [released('h1', 'a1', order('h1', 2, { trace: TRACE }))],
  ],
  ['releases without an order', [quiet, granted()], release('a1'), [released()]],
  [
    'releases with an order what may be prepared',
    [quiet, granted('h1', 'a1', prepares('h1', 1, { bitstream: 'i' }))],
    release('a1'),
    [released('h1', 'a1', order('h1', 2))],
  ],
  ['releases nothing that it has not', held, release('a2'), []],
  ['releases nothing twice', releasing, release('a1'), []],
  ['releases again what could not be released', stuck, release('a1'), [released('h1', 'a1', order('h1', 3))]],
  [
    'releases again what could not be released, without other work',
    [
      quiet,
      granted('h1', 'a1', prepares('h1', 1, { bitstream: 'i' })),
      released('h1', 'a1', order('h1', 2)),
      failed(null),
    ],
    release('a1'),
    [released('h1', 'a1', order('h1', 3))],
  ],
  [
    'releases what the request has before what it had',
    [...stuck, granted('h2', 'a1', prepares('h2', 3)), done('h2', 3)],
    release('a1'),
    [released('h2', 'a1', order('h2', 4))],
  ],
  [
    'releases what the request had, and not what another one had',
    twoStuck,
    release('a2'),
    [released('h2', 'a2', order('h2', 5))],
  ],
  ['releases nothing of a request that had nothing', stuck, release('a9'), []],
  ['releases by force as usual', held, force(true), [released('h1', 'a1', order('h1', 2))]],
  [
    'keeps back what is released by force and cannot be',
    held,
    force(false),
    [released('h1', 'a1', order('h1', 2)), keeps('confirmed')],
  ],
  ['releases by force without an order', [quiet, granted()], force(false), [released()]],
  ['releases nothing by force that it has not', held, force(false, 'a2'), []],
  [
    'tries again what is due, each with its number',
    twoStuck,
    { type: 'Due', at: 308_000, deadline: 400_000 },
    [
      released('h1', 'a1', order('h1', 5, { deadline: 400_000 })),
      released('h2', 'a2', order('h2', 6, { deadline: 400_000 })),
    ],
  ],
  [
    'tries nothing again that is not due',
    twoStuck,
    { type: 'Due', at: 305_000, deadline: 400_000 },
    [released('h1', 'a1', order('h1', 5, { deadline: 400_000 }))],
  ],
  ['tries nothing again too early', stuck, { type: 'Due', at: 304_999, deadline: 400_000 }, []],
  [
    'tries nothing again that an operator keeps',
    [made, keeps('released')],
    { type: 'Due', at: 900_000, deadline: 1 },
    [],
  ],
  [
    'tries again what nobody had',
    [made, keeps('confirmed')],
    { type: 'Due', at: 300_000, deadline: 9000 },
    [released('h1', '', order('h1', 1))],
  ],
]

const answers: readonly Case[] = [
  ['notes that an order is done', held.slice(0, 2), answer('h1', 1), [done()]],
  ['ignores the answer to an older order', releasing, answer('h1', 1), []],
  ['ignores an answer that was given before', held, answer('h1', 1), []],
  ['leaves a preparation that failed to the conversation', held.slice(0, 2), answer('h1', 1, { failed: 'r' }), []],
  ['orders a release again that failed', releasing, answer('h1', 2, { failed: 'r' }), [failed(order('h1', 3))]],
  [
    'orders a release again that failed twice',
    [...releasing, failed(order('h1', 3))],
    answer('h1', 3, { failed: 'r' }),
    [failed(order('h1', 4), 3)],
  ],
  [
    'gives a release up that failed three times',
    [...releasing, failed(order('h1', 3)), failed(order('h1', 4), 3)],
    answer('h1', 4, { failed: 'r' }),
    [failed(null, 4)],
  ],
  ['gives a release up that failed for good', releasing, answer('h1', 2, { failed: 'r', final: true }), [failed(null)]],
  ['notes its image', [made, programs], answer('d1', 1), [{ type: 'Programmed', image: 'image', number: 1 }]],
  [
    'notes that it was not programmed',
    [made, programs],
    answer('d1', 1, { failed: 'r' }),
    [{ type: 'ProgramFailed', image: 'image', number: 1, reason: 'r' }],
  ],
  ['ignores the answer to an older image', [made, programs], answer('d1', 9), []],
  ['ignores an answer nobody waits for', [made], answer('d1', 1), []],
  ['is programmed', [made], program(), [programs]],
  [
    'is programmed with the trace of the request',
    [made],
    program({ trace: TRACE }),
    [{ ...programs, order: { ...(programs['order'] as object), trace: TRACE } }],
  ],
  ['that cannot be programmed is not', [plain], program(), conflict('it cannot be programmed')],
  ['that is missing is not programmed', [made, presence('missing')], program(), conflict('its device is missing')],
  ['is programmed once', [made, programs], program(), conflict('it is being programmed')],
  ['in use is not programmed', held, program(), conflict(IN_USE)],
  ['being released is not programmed', [...releasing, keeps('confirmed')], program(), conflict(IN_USE)],
]

const refused = (state: string, why: string) => ({ kind: 'conflict', reason: `handle h1 is ${state}: ${why}` })
const keep: Fact = { type: 'Quarantine', handle: 'h1', ...WORD }
const clear: Fact = { type: 'Clear', handle: 'h1', ...WORD }
const cleared: Fact = { type: 'HandleCleared', handle: 'h1', ...WORD }
const hidden: Fact = { type: 'DeployableDescribed', description: described(['h2']) }
const HAS = 'accelerator request a1 has it; unbind that first, by force where nobody else can'
const UNSEEN = 'its host does not show it, so it is given to nobody'
const unknown: Fact = { ...keep, handle: 'h9' }
const RELEASED_FIRST = [cleared, keeps('confirmed'), released('h1', 'a1', order('h1', 3))]
const operators: readonly Case[] = [
  ['keeps back a free handle', [made], keep, [keeps('released')]],
  ['keeps back a handle that is being released', releasing, keep, [keeps('released')]],
  ['keeps back a handle that could not be released', stuck, keep, [keeps('released')]],
  ['keeps back a handle once', [made, keeps('released')], keep, []],
  ['does not keep back a handle that a request has', held, keep, refused('held', HAS)],
  ['does not keep back a handle that is missing', [made, hidden], keep, refused('missing', UNSEEN)],
  ['keeps back no handle that it has not', [made], unknown, { kind: 'not_found', resource: 'attach handle', id: 'h9' }],
  ['gives back what was kept', [made, keeps('released')], clear, [cleared]],
  ['gives back what could not be released once its host has', stuck, { ...clear, deadline: 9000 }, RELEASED_FIRST],
  ['gives back what could not be released, and what somebody keeps', [...stuck, keeps('released')], clear, [cleared]],
  ['gives back nothing that is free', [made], clear, []],
  ['gives back nothing that a request has', held, clear, refused('held', HAS)],
  ['gives back nothing that is missing', [made, hidden], clear, refused('missing', UNSEEN)],
  [
    'gives back nothing that is being released',
    releasing,
    clear,
    refused('releasing', 'its host has been told to release it; quarantine it first where the host cannot answer'),
  ],
  ['releases the first of two', [...held, granted('h2')], release('a1'), [released('h1', 'a1', order('h1', 2))]],
  [
    'releases again the first of two',
    [
      ...stuck,
      granted('h2', 'a1', prepares('h2', 3)),
      released('h2', 'a1', order('h2', 4)),
      { type: 'OrderFailed', slot: 'h2', number: 4, reason: 'r', again: null },
    ],
    release('a1'),
    [released('h1', 'a1', order('h1', 5))],
  ],
]

describe('a deployable', () => {
  it.each([...itself, ...granting, ...releases, ...answers, ...operators])('%s', (_, facts, command, decision) =>
    expect(decide(facts, command)).toEqual(decision),
  )
})
