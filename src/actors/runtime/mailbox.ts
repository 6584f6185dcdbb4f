/** A plain actor with a bounded mailbox: one message at a time, in order. nact's own mailbox is unbounded. */
import { type ActorSystemRef, type Ref, dispatch, spawn, start, stop } from 'nact'

export type Mailbox<Message> = {
  /** False: the mailbox is full or stopped, and the message was not taken. */
  readonly tell: (message: Message) => boolean
  /** Resolves when the message being handled is done; waiting ones are dropped. */
  readonly stop: () => Promise<void>
}

let system: ActorSystemRef | null = null
let made = 0

/** `handle` must not throw; if it does, the message is dropped, `failed` hears of it, and the mailbox goes on. */
export const mailbox = <Message>(
  name: string,
  handle: (message: Message) => Promise<void>,
  { max, failed }: { readonly max: number; readonly failed: (error: unknown) => void },
): Mailbox<Message> => {
  system ??= start()
  const home = system
  let waiting = 0
  let stopped = false
  let idle = Promise.withResolvers<void>()
  const take = async (message: Message) => {
    try {
      if (!stopped) await handle(message)
    } catch (error) {
      failed(error)
    } finally {
      if (--waiting === 0) idle.resolve()
    }
  }
  const act = async (_: null, message: Message): Promise<null> => {
    await take(message)
    return null
  }
  const ref: Ref<Message> = spawn(home, act, `${name.replaceAll(/[^\w-]/g, '-')}-${++made}`)
  return {
    tell: (message) => {
      if (stopped || waiting >= max) return false
      if (waiting++ === 0) idle = Promise.withResolvers<void>()
      dispatch(ref, message)
      return true
    },
    stop: async () => {
      stopped = true
      if (waiting > 0) await idle.promise
      stop(ref)
    },
  }
}
