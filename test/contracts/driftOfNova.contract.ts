/**
 * Devices that Nova tracks as well, as the drift names them (placement 6.3). On the double, and on a real Placement.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatPciAddress, pciAddressOf } from '../../src/vocabulary/pci.ts'
import { type PlacedHost, placedHost } from '../support/placedHost.ts'
import { type PlacementLab, uniqueName } from '../support/placementLab.ts'

export const driftOfNovaContract = (given: () => PlacementLab): void => {
  describe('devices that Nova tracks as well', () => {
    let lab: PlacementLab
    const hosts: PlacedHost[] = []
    const open = async () => {
      const host = await placedHost(lab)
      hosts.push(host)
      return host
    }
    beforeAll(() => {
      lab = given()
    })
    afterAll(() => Promise.all(hosts.map((host) => host.stop())))

    test('T15 a device that Nova shows under a name of its own is named, and nothing is written', async () => {
      const host = await open()
      let address = ''
      await host.shows((devices) => {
        address = formatPciAddress(pciAddressOf(devices[0]!.deployables[0]!.handles[0]!.info)!)
        return devices
      })
      const spelled = address.replaceAll(/[:.]/g, '_')
      const passed = await lab.child(host.root, `${host.host}-node_${address.toUpperCase()}`)
      const divided = await lab.child(host.root, `${host.host}-node_pci_${spelled}`)
      // neither a name without the trait of Nova, nor a device that is not offered here
      await lab.child(host.root, `${uniqueName()}_${address}`)
      const other = await lab.child(host.root, `${host.host}-node_0000:FE:1F.7`)
      for (const uuid of [passed, other]) await lab.setTraits(uuid, ['COMPUTE_MANAGED_PCI_DEVICE'])
      const about = { kind: 'nova_device', provider: host.card.uuid, name: host.card.name, state: null, repairs: [] }
      expect((await host.drift()).entries).toEqual([
        expect.objectContaining({ ...about, reason: expect.stringMatching(`${passed}.*passes the device through`) }),
        expect.objectContaining({ ...about, reason: expect.stringMatching(`${divided}.*mediated`) }),
      ])
      expect(await host.writesDuring(host.heal)).toEqual([])
    })
    test('T15 a virtual function is named when Nova shows its physical function', async () => {
      const host = await open()
      const theirs = await lab.child(host.root, `${host.host}-node_0000:FE:00.0`)
      await lab.setTraits(theirs, ['COMPUTE_MANAGED_PCI_DEVICE'])
      await host.shows((devices) =>
        devices.map((device, at) => ({
          ...device,
          deployables: device.deployables.map((each) => ({
            ...each,
            handles: each.handles.map((one) => (at === 0 ? { ...one, physfn: '0000:fe:00.0' } : one)),
          })),
        })),
      )
      expect((await host.drift()).entries).toEqual([
        expect.objectContaining({
          kind: 'nova_device',
          provider: host.card.uuid,
          reason: expect.stringMatching(`${theirs}.*physical function.*--nova-conf`),
        }),
      ])
    })
  })
}
