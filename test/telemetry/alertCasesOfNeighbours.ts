/** The cases of the alerts about services that the controls call: Keystone and Placement. */
import { type AlertCase, lasting, LONG, MINUTES, ours, SCRAPE_SECONDS, steady } from './alertSeries.ts'

const inState = (state: string): string => `,state="${state}"`
export const CALLERS = {
  KeystoneUnreachable: {
    fires: [
      lasting(
        'keystone_up',
        '',
        0,
        MINUTES,
        'Keystone does not answer: tokens that were not seen lately are refused with 503.',
      ),
    ],
    silent: [steady('keystone_up', '', 1), {}],
  },
  TokensNotValidated: {
    fires: [
      {
        series: { [ours('tokens_refused_total', ',reason="unavailable"')]: `0+5${LONG}` },
        // the rate over five minutes passes 0.1 with the seventh sample
        at: 7 * SCRAPE_SECONDS + 5 * MINUTES,
        says: [{ summary: '1.0 requests a second are refused because their token cannot be validated.' }],
      },
    ],
    silent: [{ [ours('tokens_refused_total', ',reason="invalid"')]: `0+5${LONG}` }],
  },
  InvalidTokens: {
    fires: [
      {
        series: { [ours('tokens_refused_total', ',reason="invalid"')]: `0+100${LONG}` },
        // and 10 with the thirty-first
        at: 31 * SCRAPE_SECONDS + 10 * MINUTES,
        says: [{ summary: '20 requests a second bring a token that Keystone does not know.' }],
      },
    ],
    silent: [{ [ours('tokens_refused_total', ',reason="invalid"')]: `0+10${LONG}` }],
  },
} as const satisfies Readonly<Record<string, AlertCase>>

export const PLACEMENT = {
  PlacementUnreachable: {
    fires: [
      lasting(
        'placement_hosts',
        inState('unreachable'),
        4,
        5 * MINUTES,
        'Placement cannot be compared for 4 hosts: the scheduler works with what it showed before.',
      ),
    ],
    silent: [
      { ...steady('placement_hosts', inState('unreachable'), 0), ...steady('placement_hosts', inState('in_sync'), 4) },
    ],
  },
  PlacementConflict: {
    fires: [
      lasting(
        'placement_hosts',
        inState('placement_conflict'),
        1,
        5 * MINUTES,
        '1 hosts have devices that somebody else shows in Placement.',
      ),
    ],
    silent: [steady('placement_hosts', inState('placement_conflict'), 0)],
  },
  PlacementWithheld: {
    fires: [
      lasting(
        'placement_hosts',
        inState('withheld'),
        1,
        15 * MINUTES,
        'On 1 hosts units are in use without an allocation in Placement.',
      ),
    ],
    silent: [steady('placement_hosts', inState('withheld'), 0)],
  },
  PlacementUnfinished: {
    fires: ['pending', 'waiting_for_compute_node'].map((state) =>
      lasting(
        'placement_hosts',
        inState(state),
        2,
        60 * MINUTES,
        '2 hosts are not shown in Placement as they should be.',
      ),
    ),
    silent: [steady('placement_hosts', inState('pending'), 0), steady('placement_hosts', inState('unreachable'), 2)],
  },
} as const satisfies Readonly<Record<string, AlertCase>>
