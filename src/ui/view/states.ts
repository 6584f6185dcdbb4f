/**
 * The states that a page can show: the gravity and the meaning of each. Each tone has a colour and a shape, and the
 * word stands beside it.
 */

/**
 * `good`: as wanted; `busy`: it proceeds by itself; `bad`: somebody has to act; `held`: an operator decided so; `idle`:
 * nothing happens.
 */
export type Tone = 'good' | 'busy' | 'bad' | 'held' | 'idle'
type State = { readonly tone: Tone; readonly means: string }

export const ARQ_STATES: Readonly<Record<string, State>> = {
  Initial: { tone: 'idle', means: 'created, not bound yet' },
  BindStarted: { tone: 'busy', means: 'its host is preparing the device' },
  Bound: { tone: 'good', means: 'an instance has it' },
  Unbound: { tone: 'idle', means: 'given back, not deleted yet' },
  BindFailed: { tone: 'bad', means: 'the bind failed; Nova deletes it' },
  UnbindFailed: { tone: 'bad', means: 'its host could not release the device; it is tried again' },
  Deleting: { tone: 'busy', means: 'being deleted' },
}
export const HOST_STATES: Readonly<Record<string, State>> = {
  up: { tone: 'good', means: 'heard of within the last seconds' },
  stale: { tone: 'busy', means: 'silent for a while; binds on it are still accepted' },
  down: { tone: 'bad', means: 'silent for long' },
  retired: { tone: 'held', means: 'an operator took it out of service' },
  removed: { tone: 'held', means: 'an operator removed it' },
  pending: { tone: 'held', means: 'its key waits for an operator' },
}
export const HANDLE_STATES: Readonly<Record<string, State>> = {
  free: { tone: 'idle', means: 'can be granted' },
  held: { tone: 'good', means: 'an accelerator request has it' },
  releasing: { tone: 'busy', means: 'its host is releasing it' },
  quarantined: { tone: 'bad', means: 'granted to nobody until an operator releases it' },
  missing: { tone: 'bad', means: 'its host does not report it any more' },
}
export const DEVICE_STATES: Readonly<Record<string, State>> = {
  missing: { tone: 'bad', means: 'its host does not report it any more' },
  failing: { tone: 'bad', means: 'it is bad: nothing on it is granted' },
  host_silent: { tone: 'bad', means: 'its host was not heard from: nobody knows whether it is still there' },
  disabled: { tone: 'held', means: 'an operator disabled it or its host: nothing on it is granted' },
  enabled: { tone: 'good', means: 'its parts can be granted' },
}

export const toneOf = (states: Readonly<Record<string, State>>, state: string): Tone => states[state]?.tone ?? 'idle'

/** The kinds of differences, in words. */
export const DRIFT_KINDS: Readonly<Record<string, string>> = {
  hardware: 'hardware and records differ',
  provider: 'Placement shows it otherwise',
  allocation_without_arq: 'allocated in Placement, not bound',
  arq_without_allocation: 'bound, not allocated in Placement',
  nova_device: 'Nova shows it otherwise',
  server: 'Nova does not know the server',
}
