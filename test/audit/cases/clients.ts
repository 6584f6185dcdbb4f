/** A case for each condition of S6 and S7 of `src/audit/clients.ts`. */
import type { ClientRequest, Evidence, Heard } from '../../../src/audit/evidence.ts'
import type { Finding } from '../../../src/audit/history.ts'
import { ADMIN, TENANT, ask, asking, get, list, said, show, until } from './asked.ts'
import { type Case, arq, bindFailed, bindStarted, card, created, entry, isBound, of, removed } from './scene.ts'

const heard = (more: Partial<Heard> = {}): Heard => ({
  name: 'accelerator-request-bound',
  server_uuid: 'i1',
  tag: 'a1',
  status: 'completed',
  outcome: 'delivered',
  rowCount: 3,
  ...more,
})
const tellsNova = (more: Partial<Heard> = {}): Partial<Evidence> => ({ ...until(4), nova: [heard(more)] })
const tooEarly = (more: Partial<Heard> = {}): Finding => {
  const event = heard(more)
  return {
    found: `at ${event.rowCount}: Nova heard ${event.status} of ${event.tag} for ${event.server_uuid} before it was recorded`,
    keys: [`arq/${event.tag}`],
    proof: [{ of: 'nova', heard: event }],
  }
}
const nova: readonly Case[] = [
  ['S6', 'Nova hears of what is Bound', tellsNova(), []],
  ['S6', 'Nova hears of it after it has left', tellsNova({ rowCount: 4 }), []],
  ['S6', 'Nova hears of it before it is Bound', tellsNova({ rowCount: 2 }), [tooEarly({ rowCount: 2 })]],
  ['S6', 'Nova hears of it for another instance', tellsNova({ server_uuid: 'i2' }), [tooEarly({ server_uuid: 'i2' })]],
  ['S6', 'Nova hears of an unknown ARQ', tellsNova({ tag: 'a2' }), [tooEarly({ tag: 'a2' })]],
  ['S6', 'Nova hears that a Bound one failed', tellsNova({ status: 'failed' }), [tooEarly({ status: 'failed' })]],
  [
    'S6',
    'Nova hears that one failed',
    { ...of(created('a1'), arq('a1', bindStarted()), arq('a1', bindFailed)), nova: [heard({ status: 'failed' })] },
    [],
  ],
  [
    'S6',
    'Nova hears that a failed one is Bound',
    { ...of(created('a1'), arq('a1', bindStarted()), arq('a1', bindFailed)), nova: [heard()] },
    [tooEarly()],
  ],
]

const make = ask('create', 0, 1, { status: 201, arqs: ['a1'] })
const bind = ask('bind', 1, 2, { status: 202, arqs: ['a1'], instance: 'i1' })
const unbind = ask('unbind', 3, 4, { status: 202, arqs: ['a1'] })
const answers: readonly Case[] = [
  ['S6', 'what was answered is recorded', asking(5, make, bind, unbind), []],
  [
    'S6',
    'an ARQ was answered before it was recorded',
    asking(5, { ...make, to: 0 }),
    [said({ ...make, to: 0 }, 'ARQ a1 was answered and is not recorded', 'arq/a1')],
  ],
  [
    'S6',
    'of two ARQs one is not recorded',
    asking(5, { ...make, arqs: ['a1', 'a2'] }),
    [said({ ...make, arqs: ['a1', 'a2'] }, 'ARQ a2 was answered and is not recorded', 'arq/a2')],
  ],
  [
    'S6',
    'an ARQ is recorded as gone only',
    { ...of(arq('a1', removed)), clients: [make] },
    [said(make, 'ARQ a1 was answered and is not recorded', 'arq/a1')],
  ],
  ['S6', 'an ARQ was made earlier', asking(3, { ...make, from: 2, to: 3 }), []],
  [
    'S6',
    'no answer came',
    asking(0, { ...make, status: null }, { ...bind, status: null }, { ...unbind, status: null }),
    [],
  ],
  [
    'S6',
    'it was refused',
    asking(0, { ...make, status: 300 }, { ...make, status: 199 }, { ...bind, status: 409 }, { ...unbind, status: 500 }),
    [],
  ],
  [
    'S6',
    'it was just accepted',
    asking(0, { ...make, status: 299 }),
    [said({ ...make, status: 299 }, 'ARQ a1 was answered and is not recorded', 'arq/a1')],
  ],
  [
    'S6',
    'a bind was accepted before it was recorded',
    asking(5, { ...bind, to: 1 }),
    [said({ ...bind, to: 1 }, 'the bind of a1 was accepted and is not recorded', 'arq/a1')],
  ],
  [
    'S6',
    'a bind was accepted for another instance',
    asking(5, { ...bind, instance: 'i2' }),
    [said({ ...bind, instance: 'i2' }, 'the bind of a1 was accepted and is not recorded', 'arq/a1')],
  ],
  ['S6', 'a bind was recorded earlier', asking(5, { ...bind, from: 4, to: 5 }), []],
  [
    'S6',
    'an unbind was accepted before it was recorded',
    asking(5, { ...unbind, from: 2, to: 3 }),
    [said({ ...unbind, from: 2, to: 3 }, 'the unbind of a1 was accepted and is not recorded', 'arq/a1')],
  ],
  ['S6', 'an unbind was accepted of what had left already', asking(5, { ...unbind, from: 4, to: 4 }), []],
  ['S6', 'a read names an unknown ARQ', asking(5, ask('get', 1, 2, { arqs: ['a9'] })), []],
]
const set = (act: 'disable' | 'enable', from: number, to: number, device = 'c1'): ClientRequest =>
  ask(act, from, to, { device })
const setting = (...clients: readonly ClientRequest[]): Partial<Evidence> => ({
  ...of(
    card,
    entry('device/c1', { type: 'StatusSet', status: 'maintaining' }),
    entry('device/c1', { type: 'StatusSet', status: 'enabled' }),
  ),
  clients,
})
const notSet = (asked: ClientRequest): Finding =>
  said(asked, `${asked.act} of ${asked.device} was answered and is not recorded`, `device/${asked.device}`)
const firstRow = of(arq('a1', bindStarted(), isBound))
const devices: readonly Case[] = [
  [
    'S6',
    'a bind was accepted before the first row of the journal',
    { ...firstRow, clients: [{ ...bind, from: 0, to: 0 }] },
    [said({ ...bind, from: 0, to: 0 }, 'the bind of a1 was accepted and is not recorded', 'arq/a1')],
  ],
  [
    'S6',
    'Nova hears of it before the first row of the journal',
    { ...firstRow, nova: [heard({ rowCount: 0 })] },
    [tooEarly({ rowCount: 0 })],
  ],
  [
    'S6',
    'devices were disabled and enabled',
    setting(set('disable', 1, 2), set('enable', 2, 3), set('enable', 0, 1)),
    [],
  ],
  ['S6', 'a device was not disabled yet', setting(set('disable', 0, 1)), [notSet(set('disable', 0, 1))]],
  ['S6', 'a device was not disabled any more', setting(set('disable', 3, 3)), [notSet(set('disable', 3, 3))]],
  ['S6', 'a device was not enabled again', setting(set('enable', 2, 2)), [notSet(set('enable', 2, 2))]],
  ['S6', 'another device was disabled', setting(set('disable', 1, 2, 'c2')), [notSet(set('disable', 1, 2, 'c2'))]],
  ['S6', 'it was refused to disable a device', setting({ ...set('disable', 0, 1), status: 409 }), []],
]

const missed = (asked: ClientRequest): Finding => said(asked, 'a1 was not in the list of instance i1', 'arq/a1')
const reads: readonly Case[] = [
  ['S7', 'what is shown was true', asking(5, get(1, 1, show('Initial')), get(3, 3, show('Bound', 'h1'))), []],
  [
    'S7',
    'what is shown was true before or afterwards',
    asking(5, get(1, 3, show('Initial')), get(1, 3, show('Bound', 'h1'))),
    [],
  ],
  [
    'S7',
    'what is shown was true before it was asked',
    asking(5, get(3, 3, show('BindStarted', 'h1'))),
    [said(get(3, 3, show('BindStarted', 'h1')), 'a1 was shown as BindStarted h1, it was Bound', 'arq/a1')],
  ],
  [
    'S7',
    'what is shown was true only afterwards',
    asking(5, get(1, 2, show('Bound', 'h1'))),
    [said(get(1, 2, show('Bound', 'h1')), 'a1 was shown as Bound h1, it was Initial, BindStarted', 'arq/a1')],
  ],
  [
    'S7',
    'another handle is shown',
    asking(5, get(3, 3, show('Bound', 'h2'))),
    [said(get(3, 3, show('Bound', 'h2')), 'a1 was shown as Bound h2, it was Bound', 'arq/a1')],
  ],
  [
    'S7',
    'no handle is shown',
    asking(5, get(3, 3, show('Bound'))),
    [said(get(3, 3, show('Bound')), 'a1 was shown as Bound , it was Bound', 'arq/a1')],
  ],
  ['S7', 'another handle is shown of one that is only being bound', asking(5, get(2, 2, show('BindStarted'))), []],
  [
    'S7',
    'the second of two is not true',
    asking(5, get(3, 3, show('Bound', 'h1'), show('Initial', null, 'a2'))),
    [
      said(
        get(3, 3, show('Bound', 'h1'), show('Initial', null, 'a2')),
        'a2 was shown as Initial , it was Absent',
        'arq/a2',
      ),
    ],
  ],
  [
    'S7',
    'a list shows what is not true',
    asking(5, list(3, 3, [show('Initial')])),
    [said(list(3, 3, [show('Initial')]), 'a1 was shown as Initial , it was Bound', 'arq/a1')],
  ],
  ['S7', 'an answer that is no read shows it', asking(5, { ...get(3, 3, show('Initial')), act: 'bind' }), []],
  ['S7', 'a read failed', asking(5, { ...get(3, 3, show('Initial')), status: 500 }), []],
  ['S7', 'an ARQ is in the list of its instance', asking(3, list(2, 3, [show('Bound', 'h1')])), []],
  ['S7', 'an ARQ is not in the list of its instance', asking(3, list(2, 3, [])), [missed(list(2, 3, []))]],
  [
    'S7',
    'an administrator misses an ARQ',
    asking(3, list(2, 3, [], { caller: ADMIN })),
    [missed(list(2, 3, [], { caller: ADMIN }))],
  ],
  ['S7', 'a tenant need not see an ARQ', asking(3, list(2, 3, [], { caller: TENANT })), []],
  ['S7', 'an ARQ came to the instance while it was listed', asking(3, list(1, 3, [])), []],
  ['S7', 'an ARQ left the instance while it was listed', asking(4, list(3, 4, [])), []],
  ['S7', 'an ARQ is not in the list of another instance', asking(3, list(2, 3, [], { instance: 'i2' })), []],
  ['S7', 'an ARQ is not in a list of no instance', asking(3, ask('list', 2, 3, { shown: [] })), []],
  ['S7', 'an ARQ is not in a single answer', asking(3, { ...get(2, 3), instance: 'i1' }), []],
]

const [bothBound, listed] = [
  of([arq('a1', bindStarted()), arq('a2', bindStarted('h2'))]),
  list(2, 2, [show('BindStarted', null, 'a2')]),
]
const more: readonly Case[] = [
  ['S7', 'of two ARQs the first is not in the list', { ...bothBound, clients: [listed] }, [missed(listed)]],
  [
    'S7',
    'one that is Bound with nothing is shown with a handle',
    { ...of(created('a1'), arq('a1', isBound)), clients: [get(2, 2, show('Bound', 'h1'))] },
    [said(get(2, 2, show('Bound', 'h1')), 'a1 was shown as Bound h1, it was Bound', 'arq/a1')],
  ],
]

export const clientCases: readonly Case[] = [...nova, ...answers, ...devices, ...reads, ...more]
