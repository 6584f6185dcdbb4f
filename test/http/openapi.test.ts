/** The printed description says what the rows do. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROUTES } from '../../src/http/routes/all.ts'
import { createTestApp, strictApp } from './app.ts'
import { openCloud } from './cloud.ts'
import type { Cloud } from './cloud.ts'
import { send, version } from './steps.ts'

type Json = Readonly<Record<string, unknown>>
const printed = (await send(strictApp().app, 'GET /openapi.json')).json

let cloud: Cloud
beforeAll(async () => void (cloud = await openCloud()))
afterAll(() => cloud.close())

const at = (path: string, method: string) => printed.paths[path.replace(/:(\w+)/g, '{$1}')][method.toLowerCase()]

/** What a reference within the description stands for. */
const lead = (reference: string) =>
  reference
    .slice(2)
    .split('/')
    .reduce((place, name) => place?.[name], printed)

test('it is version 3.1 and served without an identity', async () => {
  const got = await send(strictApp().app, 'GET /openapi.json', { headers: { 'X-Roles': 'nobody' } })
  expect(got.status).toBe(200)
  expect(got.json.openapi).toBe('3.1.0')
})

test('the committed description is the one that is printed', () => {
  const committed = readFileSync(new URL('../../infra/contracts/openapi.json', import.meta.url), 'utf8')
  expect(committed).toBe(`${JSON.stringify(printed, null, 2)}\n`)
})

test('each row has an operation, and each operation a row', () => {
  const operations = Object.values<Json>(printed.paths).flatMap((methods) => Object.keys(methods))
  expect(operations).toHaveLength(ROUTES.length)
  for (const row of ROUTES) expect(at(row.path, row.method).summary).toBe(row.docs.summary)
})

test('parameters in the path, in the query and the version header are named', () => {
  for (const row of ROUTES) {
    const names = at(row.path, row.method).parameters.map(
      (each: { name?: string; $ref?: string }) => each.name ?? lead(each.$ref!).name,
    )
    const inPath = [...row.path.matchAll(/:(\w+)/g)].map(([, name]) => name)
    expect(names).toEqual([
      ...inPath,
      ...(row.oneOf === undefined ? [] : ['selector']),
      ...Object.keys(row.query ?? {}).filter((name) => !row.oneOf?.includes(name)),
      ...Object.keys(row.docs.headers ?? {}),
      ...(row.path.startsWith('/v2') ? ['OpenStack-API-Version'] : []),
    ])
  }
})

test('every reference leads somewhere', () => {
  const text = JSON.stringify(printed)
  const references = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference!))
  expect(references.size).toBeGreaterThan(15)
  for (const reference of references) expect(lead(reference), reference).toBeDefined()
})

describe('a shape has exactly the fields the answers have', () => {
  const fieldsOf = (name: string): readonly string[] =>
    Object.keys(printed.components.schemas[name].properties).toSorted()
  test.each([
    ['Device', 'devices', 'devices'],
    ['Deployable', 'deployables', 'deployables'],
    ['Attribute', 'attributes', 'attributes'],
    ['Profile', 'device_profiles', 'device_profiles'],
    ['AcceleratorRequest', 'accelerator_requests', 'arqs'],
    ['Host', 'hosts', 'hosts'],
  ])('%s', async (schema, path, key) => {
    await cloud.newArqs()
    const rich = createTestApp(cloud.control, { additiveMicroversion: true })
    const { json } = await send(rich, `GET /v2/${path}`, { headers: version('latest') })
    expect(Object.keys(json[key][0]).toSorted()).toEqual(fieldsOf(schema))
  })
  test('Timeline', async () => {
    const [arq] = await cloud.newArqs()
    const { json } = await cloud.must(200, `GET /v2/accelerator_requests/${arq!.uuid}/timeline`)
    expect(Object.keys(json).toSorted()).toEqual(fieldsOf('Timeline'))
  })
})
