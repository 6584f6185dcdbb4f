/** For the alerts about devices: series with which each fires, and with which it stays silent. */
import { type AlertCase, lasting, LONG, MINUTES, ONCE_AT, ours, steady } from './alertSeries.ts'

const VANISHED = 'Devices have vanished of which 8 requests hold a part.'
export const DEVICES = {
  DevicesInUseMissing: {
    fires: [
      {
        series: { [ours('arqs_on_missing_devices')]: `0x1 8${LONG}` },
        at: ONCE_AT,
        says: [{ summary: VANISHED }],
      },
    ],
    silent: [{ ...steady('arqs_on_missing_devices', '', 0), ...steady('device_states', ',state="missing"', 1) }],
  },
  DevicesFailing: {
    fires: [lasting('device_states', ',state="failing"', 2, MINUTES, '2 devices are failing and not offered.')],
    silent: [{ ...steady('device_states', ',state="failing"', 0), ...steady('device_states', ',state="enabled"', 9) }],
  },
} as const satisfies Readonly<Record<string, AlertCase>>
