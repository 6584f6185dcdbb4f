/** A case for each condition of the invariants of `src/audit/clients.ts`. */
import type { Asked, Evidence, Heard } from '../../../src/audit/evidence.ts'
import type { Finding } from '../../../src/audit/history.ts'
import {
  type Case,
  type Entry,
  arq,
  bindFailed,
  bindStarted,
  card,
  created,
  entry,
  here,
  isBound,
  of,
  removed,
  unbound,
} from './scene.ts'

const SERVICE = { projectId: 'service', isAdmin: false, isService: true }
const ADMIN = { projectId: 'admin', isAdmin: true, isService: false }
const TENANT = { projectId: 'p1', isAdmin: false, isService: false }
const by = (who: string, row: Entry): Entry => ({ ...row, by: who })

/** Row 1: created; 2: being bound; 3: Bound; 4: unbound; 5: removed. */
const life: readonly Entry[] = [
  created('a1'),
  by('service', arq('a1', bindStarted())),
  arq('a1', isBound),
  by('service', arq('a1', unbound)),
  by('service', arq('a1', removed)),
]
const until = (rows: number): Partial<Evidence> => of(...life.slice(0, rows))
const ask = (act: Asked['act'], from: number, to: number, more: Partial<Asked> = {}): Asked => ({
  act,
  from,
  to,
  caller: SERVICE,
  status: 200,
  ...more,
})
const asking = (rows: number, ...clients: readonly Asked[]): Partial<Evidence> => ({ ...until(rows), clients })
const said = (asked: Asked, line: string, ...keys: readonly string[]): Finding => ({
  found: `from ${asked.from} to ${asked.to}: ${line}`,
  keys,
  proof: [{ of: 'client', asked }],
})

const heard = (more: Partial<Heard> = {}): Heard => ({
  name: 'accelerator-request-bound',
  server_uuid: 'i1',
  tag: 'a1',
  status: 'completed',
  outcome: 'delivered',
  place: 3,
  ...more,
})
const tellsNova = (more: Partial<Heard> = {}): Partial<Evidence> => ({ ...until(4), nova: [heard(more)] })
const tooEarly = (more: Partial<Heard> = {}): Finding => {
  const event = heard(more)
  return {
    found: `at ${event.place}: Nova heard ${event.status} of ${event.tag} for ${event.server_uuid} before it was recorded`,
    keys: [`arq/${event.tag}`],
    proof: [{ of: 'nova', heard: event }],
  }
}
const nova: readonly Case[] = [
  ['S6', 'Nova hears of what is Bound', tellsNova(), []],
  ['S6', 'Nova hears of it after it has left', tellsNova({ place: 4 }), []],
  ['S6', 'Nova hears of it before it is Bound', tellsNova({ place: 2 }), [tooEarly({ place: 2 })]],
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
    asking(0, { ...make, status: 300 }, { ...bind, status: 409 }, { ...unbind, status: 199 }),
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
const set = (act: 'disable' | 'enable', from: number, to: number, device = 'c1'): Asked =>
  ask(act, from, to, { device })
const setting = (...clients: readonly Asked[]): Partial<Evidence> => ({
  ...of(
    card,
    entry('device/c1', { type: 'StatusSet', status: 'maintaining' }),
    entry('device/c1', { type: 'StatusSet', status: 'enabled' }),
  ),
  clients,
})
const notSet = (asked: Asked): Finding =>
  said(asked, `${asked.act} of ${asked.device} was answered and is not recorded`, `device/${asked.device}`)
const devices: readonly Case[] = [
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

const show = (state: string, handle: string | null = null, uuid = 'a1') => ({ uuid, state, projectId: 'p1', handle })
const get = (from: number, to: number, ...shown: NonNullable<Asked['shown']>): Asked => ask('get', from, to, { shown })
const list = (from: number, to: number, shown: NonNullable<Asked['shown']>, more: Partial<Asked> = {}): Asked =>
  ask('list', from, to, { shown, instance: 'i1', ...more })
const missed = (asked: Asked): Finding => said(asked, 'a1 was not in the list of instance i1', 'arq/a1')
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

const across = (asked: Asked, owners: string): Finding =>
  said(asked, `project ${asked.caller.projectId} was shown a1 of ${owners}`, 'arq/a1')
const seenBy = (caller: Asked['caller'], more: Partial<Asked> = {}): Asked => ({
  ...get(1, 1, show('Initial')),
  caller,
  ...more,
})
const OTHER = { ...TENANT, projectId: 'p2' }
const withoutToken = (act: 'bind' | 'unbind', more: Partial<Asked> = {}): Asked =>
  ask(act, 1, 2, { caller: TENANT, status: 202, ...more })
const changed = (place: number, what: string, who: string) =>
  here(place, ['arq/a1'], `${what} of arq/a1, bound, by ${who}`)
const forced = { ...unbound, forced: { by: 'op', reason: 'r' } }
const walled: readonly Case[] = [
  ['S10', 'its own project sees it', asking(1, seenBy(TENANT)), []],
  ['S10', 'an administrator sees it', asking(1, seenBy(ADMIN)), []],
  ['S10', 'another project sees it', asking(1, seenBy(OTHER)), [across(seenBy(OTHER), 'p1')]],
  [
    'S10',
    'another project sees it in an answer that failed',
    asking(1, seenBy(OTHER, { status: null })),
    [across(seenBy(OTHER, { status: null }), 'p1')],
  ],
  ['S10', 'a service sees it by its instance', asking(1, seenBy(SERVICE, { instance: 'i1' })), []],
  ['S10', 'a service sees it without an instance', asking(1, seenBy(SERVICE)), [across(seenBy(SERVICE), 'p1')]],
  [
    'S10',
    'a tenant names an instance',
    asking(1, seenBy(OTHER, { instance: 'i1' })),
    [across(seenBy(OTHER, { instance: 'i1' }), 'p1')],
  ],
  [
    'S10',
    'it belongs to the other project afterwards',
    {
      ...of(created('a1'), by('service', arq('a1', { ...bindStarted(), projectId: 'p2' }))),
      clients: [seenBy(OTHER, { to: 2 })],
    },
    [],
  ],
  [
    'S10',
    'a tenant binds',
    asking(2, withoutToken('bind')),
    [said(withoutToken('bind'), 'a bind without a service token was accepted')],
  ],
  [
    'S10',
    'a tenant unbinds',
    asking(2, withoutToken('unbind')),
    [said(withoutToken('unbind'), 'a unbind without a service token was accepted')],
  ],
  ['S10', 'a service binds', asking(2, withoutToken('bind', { caller: SERVICE })), []],
  ['S10', 'a tenant is refused', asking(2, withoutToken('bind', { status: 403 })), []],
  ['S10', 'a tenant removes', asking(2, { ...withoutToken('bind'), act: 'remove' }), []],
  ['S10', 'services change what is bound', until(5), []],
  ['S10', '`seed` fills a store', of(created('a1'), by('seed', arq('a1', bindStarted()))), []],
  [
    'S10',
    'a tenant is recorded as binding',
    of(created('a1'), by('u1', arq('a1', bindStarted()))),
    [changed(2, 'BindStarted', 'u1')],
  ],
  [
    'S10',
    'nobody is recorded as unbinding',
    of(...life.slice(0, 3), arq('a1', unbound)),
    [changed(4, 'Unbound', 'nobody')],
  ],
  [
    'S10',
    'a tenant is recorded as removing what is bound',
    of(...life.slice(0, 3), by('u1', arq('a1', removed))),
    [changed(4, 'ArqRemoved', 'u1')],
  ],
  ['S10', 'a tenant removes what is not bound', of(created('a1'), by('u1', arq('a1', removed))), []],
  ['S10', 'a tenant unbinds what is not bound', of(created('a1'), by('u1', arq('a1', { ...unbound, was: null }))), []],
  ['S10', 'an operator unbinds by force', of(...life.slice(0, 3), by('u1', arq('a1', forced))), []],
  [
    'S10',
    'force does not remove',
    of(...life.slice(0, 3), by('u1', arq('a1', { ...removed, forced: {} }))),
    [changed(4, 'ArqRemoved', 'u1')],
  ],
  [
    'S10',
    'what a host reports is of nobody',
    of(created('a1'), by('service', arq('a1', bindStarted())), arq('a1', isBound)),
    [],
  ],
]

const remove = (to: number, more: Partial<Asked> = {}): Asked =>
  ask('remove', 1, to, { status: 204, arqs: ['a1'], ...more })
const isThere = (asked: Asked, uuid = 'a1'): Finding =>
  said(asked, `ARQ ${uuid} was deleted and is there`, `arq/${uuid}`)
const byInstance = (from: number, to: number, more: Partial<Asked> = {}): Asked =>
  ask('removeByInstance', from, to, { status: 204, instance: 'i1', ...more })
const ofInstance = (asked: Asked): Finding => said(asked, 'ARQ a1 of instance i1 was deleted and is there', 'arq/a1')
const finished: readonly Case[] = [
  ['L6', 'it is gone', asking(5, remove(5)), []],
  ['L6', 'it never was', asking(0, remove(5)), []],
  ['L6', 'it is there', asking(4, remove(4)), [isThere(remove(4))]],
  ['L6', 'it is gone only afterwards', asking(5, remove(4)), [isThere(remove(4))]],
  [
    'L6',
    'the second of two is there',
    { ...of(created('a2')), clients: [remove(1, { arqs: ['a1', 'a2'] })] },
    [isThere(remove(1, { arqs: ['a1', 'a2'] }), 'a2')],
  ],
  ['L6', 'it was refused', asking(4, remove(4, { status: 404 })), []],
  ['L6', 'it was not to be removed', asking(4, { ...remove(4), act: 'get' }), []],
  ['L6', 'it left the instance', asking(4, byInstance(3, 4)), []],
  ['L6', 'it stays with the instance', asking(4, byInstance(2, 3)), [ofInstance(byInstance(2, 3))]],
  ['L6', 'it came to the instance meanwhile', asking(4, byInstance(1, 3)), []],
  ['L6', 'it stays with another instance', asking(4, byInstance(2, 3, { instance: 'i2' })), []],
  ['L6', 'its instance was refused', asking(4, byInstance(2, 3, { status: 409 })), []],
  ['L6', 'the removal names an instance beside it', asking(4, { ...byInstance(2, 3), act: 'unbind' }), []],
]

export const clientCases: readonly Case[] = [...nova, ...answers, ...devices, ...reads, ...walled, ...finished]
