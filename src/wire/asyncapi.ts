/** The description of the bus, printed from the catalogue of topics. */
import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { DAY_MS } from '../vocabulary/clock.ts'
import { CATALOGUE, type Channel, KEEP_MS } from './catalogue.ts'
import { Envelope } from './envelope.ts'

type Json = Readonly<Record<string, unknown>>

const jsonSchema = (schema: v.GenericSchema): Json => {
  const { $schema: _, ...printed } = toJsonSchema(schema, { typeMode: 'input', errorMode: 'ignore' })
  return printed
}

const rows = Object.entries(CATALOGUE)
const reference = (path: string): Json => ({ $ref: `#/${path}` })

const kept = (keep: (typeof CATALOGUE)[Channel]['keep']): string =>
  KEEP_MS[keep] === null
    ? 'Of each key the last message is kept; a tombstone says that it is gone.'
    : `Messages are kept for ${KEEP_MS[keep] / DAY_MS} days.`

const channel = (name: string, { topic, key, keep }: (typeof CATALOGUE)[Channel]): Json => ({
  address: topic,
  description: `Messages of one key keep their order; the key is the ${key}. ${kept(keep)}`,
  messages: { [name]: reference(`components/messages/${name}`) },
})

/** Every message but a dead letter is an envelope around its body. */
const message = (name: string, body: v.GenericSchema): Json => ({
  name,
  contentType: 'application/cloudevents+json',
  payload: jsonSchema(name === 'deadLetters' ? body : v.object({ ...Envelope.entries, data: body })),
})

export const asyncapi = (): Json => ({
  asyncapi: '3.0.0',
  info: {
    title: 'accelerando bus',
    version: '1',
    description: 'CloudEvents 1.0 in structured JSON. Consumers are idempotent by the message id.',
    license: { name: 'Apache-2.0' },
  },
  defaultContentType: 'application/cloudevents+json',
  channels: Object.fromEntries(rows.map(([name, row]) => [name, channel(name, row)])),
  components: { messages: Object.fromEntries(rows.map(([name, row]) => [name, message(name, row.body)])) },
})
