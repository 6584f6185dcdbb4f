/** Prints the schema of a body as JSON Schema, in the form in which the description of the API holds it. */
import { toJsonSchema } from '@valibot/to-json-schema'
import type { ConversionConfig } from '@valibot/to-json-schema'
import type { Schema } from './schemas.ts'
import type { Json } from './shapes.ts'

const CONFIG = {
  target: 'draft-2020-12',
  typeMode: 'input',
  errorMode: 'ignore',
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
} as const satisfies ConversionConfig

/** Each occurrence of a schema of `named` is printed as a reference to its name. */
export const printed = (schema: Schema, named: Readonly<Record<string, Schema>> = {}): Json => {
  const { $schema: _, $defs: __, ...json } = toJsonSchema(schema, { ...CONFIG, definitions: named })
  return json
}
