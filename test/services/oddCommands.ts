/** Commands to the cloud of `livedIn.ts` that meet something else than is usual, and what is refused. */
import { NOVA, TENANT } from '../support/plane.ts'
import { ADMIN, FPGA_IMAGE, IMAGE, NOTE, OTHER_IMAGE } from './livedIn.ts'
import type { DriftEntry } from '../../src/actors/answers/drift.ts'
import type { Operation } from './operations.ts'

const INSTANCE = '80000000-0000-4000-8000-000000000001'
const NOBODY = '90000000-0000-4000-8000-00000000dead'
const DAY = 86_400_000
const PLAIN = { ifVersion: null, enabled: true, versions: [] }

const PROFILES: Readonly<Record<string, Operation>> = {
  'a profile whose name is taken': ({ profiles }, _, caller) =>
    profiles.create(caller, { name: 'f', description: null, groups: [] }),
  'a profile whose UUID is taken': ({ profiles }, { profile }, caller) =>
    profiles.create(caller, { uuid: profile, name: 'new', description: null, groups: [] }),
  'an update of an unknown profile': ({ profiles }, _, caller) => profiles.update(caller, NOBODY, PLAIN, 'why'),
  'an update of a profile that has changed': ({ profiles }, { profile }, caller) =>
    profiles.update(caller, profile, { ...PLAIN, ifVersion: 0 }, 'why'),
  'an update that changes nothing but whom a profile is for': ({ profiles }, { profile }, caller) =>
    profiles.update(caller, profile, { ...PLAIN, projects: ['p2'], versions: [{ version: 1, enabled: false }] }, 'why'),
  'the removal of an unknown profile beside another': ({ profiles }, _, caller) =>
    profiles.remove(caller, ['unused', 'other']),
  'profiles that have changed are not regrouped': ({ profiles }, { profile }, caller) =>
    profiles.regroup(caller, [{ uuid: profile, name: 'f', was: [], groups: [{ 'resources:FPGA': '3' }] }], 'why'),
  'whom an update of an unknown profile concerns': ({ profiles }, _, caller) =>
    profiles.updateImpact(caller, NOBODY, PLAIN, 'why'),
}
const REQUESTS: Readonly<Record<string, Operation>> = {
  'requests of an unknown profile': ({ arqs }) => arqs.create(TENANT, 'other'),
  'a bind of an unknown request': ({ arqs }, { bindingOf }) => arqs.bind(NOVA, [bindingOf(NOBODY, 'spare', INSTANCE)]),
  'a bind to an unknown provider': ({ arqs }, { bindingOf, left }) =>
    arqs.bind(NOVA, [{ ...bindingOf(left, 'spare', INSTANCE), deviceRpUuid: NOBODY }]),
  'a bind under an unknown name of the host': ({ arqs }, { bindingOf, left }) =>
    arqs.bind(NOVA, [{ ...bindingOf(left, 'spare', INSTANCE), hostname: 'h9', projectId: 'p7' }]),
  'a bind to a card of another class': ({ arqs }, { bindingOf, left }) =>
    arqs.bind(NOVA, [bindingOf(left, 'tree', INSTANCE)]),
  'a bind of an instance that has requests': ({ arqs }, { bindingOf, left, bound }) =>
    arqs.bind(NOVA, [bindingOf(left, 'spare', bound.instance)]),
  'a bind that is repeated': ({ arqs }, { bindingOf, bound }) =>
    arqs.bind(NOVA, [bindingOf(bound.arq, 'worked', bound.instance)]),
  'a bind of a user': ({ arqs }, { bindingOf, left }) => arqs.bind(TENANT, [bindingOf(left, 'spare', INSTANCE)]),
  'a bind of a request that was released': ({ arqs }, { bindingOf, released }) =>
    arqs.bind(NOVA, [bindingOf(released.arq, 'worked', INSTANCE)]),
  'a bind that finds one image': ({ arqs }, { bindingOf, searching }) =>
    arqs.bind(NOVA, [bindingOf(searching.one, 'tree', INSTANCE)]),
  'a bind that finds one image for a card that is cleaned': ({ arqs }, { bindingOf, searching }) =>
    arqs.bind(NOVA, [bindingOf(searching.one, 'silent', INSTANCE)]),
  'a bind that finds two images': ({ arqs }, { bindingOf, searching }) =>
    arqs.bind(NOVA, [bindingOf(searching.two, 'silent', INSTANCE)]),
  'a bind whose images cannot be searched': ({ arqs }, { bindingOf, searching }) =>
    arqs.bind(NOVA, [bindingOf(searching.away, 'silent', INSTANCE)]),
  'an unbind of a user': ({ arqs }, { bound }) => arqs.unbind(TENANT, [bound.arq]),
  'an unbind of an unknown request beside another': ({ arqs }, { bound }) => arqs.unbind(NOVA, [bound.arq, NOBODY]),
  'an unbind of one request, named twice': ({ arqs }, { bound }) => arqs.unbind(NOVA, [bound.arq, bound.arq]),
  'an unbind of a request that is being bound': ({ arqs }, { pending }) => arqs.unbind(NOVA, [pending.arq]),
  'an unbind of a request whose bind failed': ({ arqs }, { failed }) => arqs.unbind(NOVA, [failed.arq]),
  'a deletion of one that is unknown, of another project, and one that is left': ({ arqs }, { left, bound }) =>
    arqs.remove({ ...TENANT, projectId: 'p2' }, [left, bound.arq]),
  'a deletion of an unknown request beside another': ({ arqs }, { left }) => arqs.remove(TENANT, [NOBODY, left]),
  'a deletion of a failed request': ({ arqs }, { failed }) => arqs.remove(NOVA, [failed.arq]),
  'a deletion by instance of a user': ({ arqs }, { bound }) => arqs.removeByInstance(TENANT, bound.instance),
  'a deletion by an unknown instance': ({ arqs }) => arqs.removeByInstance(NOVA, INSTANCE),
  'a forced unbind of an unknown request': ({ arqs }, _, caller) => arqs.forceUnbind(caller, NOBODY, NOTE),
  'a forced unbind of a request that is not bound': ({ arqs }, { left }, caller) =>
    arqs.forceUnbind(caller, left, NOTE),
  'a forced unbind of a request whose bind failed': ({ arqs }, { failed }, caller) =>
    arqs.forceUnbind(caller, failed.arq, NOTE),
  'a forced unbind on a host that answers': ({ arqs }, { bound }, caller) => arqs.forceUnbind(caller, bound.arq, NOTE),
}
const HARDWARE: Readonly<Record<string, Operation>> = {
  'an unknown device is disabled': ({ devices }, _, caller) => devices.setStatus(caller, NOBODY, 'maintaining'),
  'an enabled device is enabled': ({ devices }, { named }, caller) =>
    devices.setStatus(caller, named('worked').device_uuid, 'enabled'),
  'an unknown deployable is programmed': ({ deployables }, _, caller) => deployables.program(caller, NOBODY, IMAGE),
  'a card is programmed with an unknown image': ({ deployables }, { named }, caller) =>
    deployables.program(caller, named('tree').uuid, NOBODY),
  'a card is programmed with an image for another': ({ deployables }, { named }, caller) =>
    deployables.program(caller, named('tree').uuid, OTHER_IMAGE),
  'a card is programmed with an image for it': ({ deployables }, { named }, caller) =>
    deployables.program(caller, named('tree').uuid, FPGA_IMAGE),
  'a card without a program is programmed': ({ deployables }, { named }, caller) =>
    deployables.program(caller, named('spare').uuid, IMAGE),
  'an attribute of an unknown deployable': ({ attributes }, _, caller) => attributes.create(caller, NOBODY, 'a', 'b'),
  'an attribute by the number of its deployable': ({ attributes }, { named }, caller) =>
    attributes.create(caller, named('gpu').id, 'site', 'x'),
  'an attribute with a parent': ({ attributes }, { named, attribute }, caller) =>
    attributes.create(caller, named('spare').uuid, 'site', 'x', attribute),
  'an attribute with an unknown parent': ({ attributes }, { named }, caller) =>
    attributes.create(caller, named('spare').uuid, 'site', 'x', NOBODY),
  'an attribute whose key is taken': ({ attributes }, { named }, caller) =>
    attributes.create(caller, named('spare').uuid, 'rack', 'x'),
  'an unknown attribute is removed': ({ attributes }, _, caller) => attributes.remove(caller, NOBODY),
  'a handle is put in quarantine again': ({ handles }, { withheld }, caller) =>
    handles.quarantine(caller, withheld, NOTE),
  'a handle that is being released is put in quarantine': ({ handles }, { leaving }, caller) =>
    handles.quarantine(caller, leaving, NOTE),
  'an unknown handle is put in quarantine': ({ handles }, _, caller) => handles.quarantine(caller, NOBODY, NOTE),
  'a free handle is released': ({ handles }, { free }, caller) => handles.release(caller, free, NOTE),
  'a held handle is released': ({ handles }, { held }, caller) => handles.release(caller, held, NOTE),
  'a handle that is being released is released': ({ handles }, { leaving }, caller) =>
    handles.release(caller, leaving, NOTE),
  'a handle is cleaned': ({ handles }, { withheld }, caller) => handles.clean(caller, withheld, NOTE),
}
const HOSTS: Readonly<Record<string, Operation>> = {
  'an unknown host is retired': ({ hosts }, _, caller) => hosts.retire(caller, 'h9', NOTE),
  'a silent host is retired': ({ hosts }, _, caller) => hosts.retire(caller, 'h2', NOTE),
  'a retired host is retired': ({ hosts }, _, caller) => hosts.retire(caller, 'h3', NOTE),
  'an unknown host is restored': ({ hosts }, _, caller) => hosts.restore(caller, 'h9', NOTE),
  'a host in service is restored': ({ hosts }, _, caller) => hosts.restore(caller, 'h1', NOTE),
  'an unknown host is asked': ({ hosts }, _, caller) => hosts.probe(caller, 'h9'),
  'a silent host is asked': ({ hosts }, _, caller) => hosts.probe(caller, 'h2'),
  'a key is accepted where none waits': ({ hosts }, _, caller) => hosts.approve(caller, 'h1', NOTE, null),
  'a key is replaced by the next': ({ hosts }, _, caller) => hosts.rekey(caller, 'h1', NOTE, null),
  'an unknown host is removed': ({ hosts }, _, caller) => hosts.remove(caller, 'h9', NOTE, false),
  'a retired host in use is removed': ({ hosts }, _, caller) => hosts.remove(caller, 'h3', NOTE, false),
  'a retired host in use is removed by force': ({ hosts }, _, caller) => hosts.remove(caller, 'h3', NOTE, true),
  'a host with an open bind is removed by force': ({ hosts }, _, caller) => hosts.remove(caller, 'h1', NOTE, true),
}
const ignoring =
  (find: (names: Parameters<Operation>[1]) => string, ahead: number): Operation =>
  ({ drift }, names, caller) =>
    drift.ignore(caller, { host: 'h1', difference: find(names), until: names.at + 1000 + ahead }, NOTE)
/** The first such difference as it is listed now, also by Nova. */
const ignoringNow =
  (isWanted: (entry: DriftEntry) => boolean): Operation =>
  async ({ drift }, names, caller) => {
    const listed = await drift.list('h1', {}, true)
    const found = listed.ok ? listed.value.items[0]!.entries.find(isWanted) : undefined
    return drift.ignore(caller, { host: 'h1', difference: found!.uuid, until: names.at + DAY }, NOTE)
  }
const lasting: Parameters<typeof ignoring>[0] = ({ drift }) =>
  drift.entries.find(({ kind }) => kind === 'arq_without_allocation')!.uuid
const PLACEMENT: Readonly<Record<string, Operation>> = {
  'a difference is ignored for a moment': ignoring(lasting, 1),
  'a difference is ignored until now': ignoring(lasting, 0),
  'a difference is ignored as long as may be': ignoring(lasting, 91 * DAY),
  'a difference is ignored for too long': ignoring(lasting, 91 * DAY + 1),
  'a difference that is unknown is ignored': ignoring(() => NOBODY, DAY),
  'a difference that a pass repairs is ignored': ignoringNow(({ repairs }) => repairs.length > 0),
  'a difference of Nova is ignored': ignoringNow(({ kind }) => kind === 'server'),
  'a difference of an unknown host is ignored': ({ drift }, { at }, caller) =>
    drift.ignore(caller, { host: 'h9', difference: NOBODY, until: at + DAY }, NOTE),
  'an unknown difference is not ignored any more': ({ drift }, _, caller) => drift.unignore(caller, NOBODY, NOTE),
  'differences of an unknown host are repaired': ({ drift }, _, caller) => drift.heal(caller, 'h9'),
  'Nova is told again of a failure': ({ resendDelivery }, { failed }, caller) =>
    resendDelivery(caller, failed.instance, NOTE),
  'Nova is told again of a released request': ({ resendDelivery }, { released }, caller) =>
    resendDelivery(caller, released.instance, NOTE),
  'an orphan is collected that is named twice': ({ orphans }, { onGpu }) =>
    orphans.collect(ADMIN, [onGpu.instance, onGpu.instance]),
}
export const ODD = { ...PROFILES, ...REQUESTS, ...HARDWARE, ...HOSTS, ...PLACEMENT }
