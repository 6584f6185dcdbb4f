import { fakeDriver } from '../../src/drivers/simulated/fake.ts'
import { pciDriver } from '../../src/drivers/pci/pciDriver.ts'
import { simulatedDriver } from '../../src/drivers/simulated/simulated.ts'
import { mixedCloud, sizedCloud } from '../../src/drivers/simulated/cloud.ts'
import { readWhitelist } from '../../src/drivers/pci/whitelist.ts'
import { driverContract } from './driver.contract.ts'
import { recordedHost } from './recordedHostIo.ts'

const everything = readWhitelist('{}')
const whitelist = everything.ok ? everything.entries : []

for (const recording of ['mixed-host', 'odd-host', 'pci-sim'])
  driverContract(`pci_driver on ${recording}`, () => ({
    driver: pciDriver({ whitelist, check: true }),
    io: recordedHost(recording),
  }))

driverContract('fake_driver', () => ({ driver: fakeDriver(), io: recordedHost('pci-sim') }))
driverContract('fake_driver with many devices', () => ({
  driver: fakeDriver({ devices: 30, handles: 200 }),
  io: recordedHost('pci-sim'),
}))

const clouds = [
  ...mixedCloud(7),
  ...sizedCloud('size', { hosts: 1, devices: 40, handles: 64 }),
  ...sizedCloud(1, { hosts: 1, devices: 3, handles: 700 }),
]
for (const { hostname, plan } of clouds)
  driverContract(`simulated_driver on ${hostname} of seed ${plan.seed} with ${plan.devices.length} devices`, () => ({
    driver: simulatedDriver(plan),
    io: recordedHost('pci-sim', hostname),
  }))
