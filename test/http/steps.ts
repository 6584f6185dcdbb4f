/** One HTTP step: a line as one would say it, and what came back. */
import { expect } from 'vitest'

type App = { readonly request: (path: string, init?: RequestInit) => Response | Promise<Response> }
export type Sent = {
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it stands, with the JSON content type unless the headers say otherwise. */
  readonly raw?: string | Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
}
export type Got = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // Answers are looked into freely; a wrong guess fails the test that made it.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
  /** The sentence a client would show of a refusal. */
  readonly fault: string
}

const faultIn = (json: unknown): string => {
  const message = (json as { error_message?: string } | null)?.error_message
  return message === undefined ? '' : (JSON.parse(message) as { faultstring: string }).faultstring
}

export const send = async (app: App, line: string, sent: Sent = {}): Promise<Got> => {
  const [method, path] = line.split(' ') as [string, string]
  const body = sent.raw ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body))
  const headers = { ...(body !== undefined && { 'content-type': 'application/json' }), ...sent.headers }
  const response = await app.request(path, { method, headers, ...(body !== undefined && { body }) })
  const text = await response.text()
  const isFile = response.headers.get('content-disposition') !== null
  const json: unknown = text === '' || isFile ? null : JSON.parse(text)
  return { status: response.status, headers: response.headers, text, json, fault: faultIn(json) }
}

/** Every refusal has this shape, whatever its status. */
export const expectRefusal = (got: Got, status: number): void => {
  expect(got.status, got.text).toBe(status)
  expect(got.headers.get('content-type')).toBe('application/json')
  expect(Object.keys(got.json as object)).toEqual(['error_message', 'errors'])
  const nested = JSON.parse(got.json.error_message as string)
  expect(nested).toEqual({
    faultcode: status < 500 ? 'Client' : 'Server',
    faultstring: expect.any(String),
    debuginfo: null,
  })
  expect(got.json.errors).toEqual([
    {
      status,
      code: expect.stringMatching(/^accelerator\.[a-z_]+$/),
      title: expect.any(String),
      detail: nested.faultstring,
      request_id: got.headers.get('x-openstack-request-id'),
    },
  ])
}

export const as = (roles: string, more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  'X-User-Id': 'u1',
  'X-Project-Id': 'p1',
  'X-Roles': roles,
  ...more,
})
export const service = { 'X-Service-Roles': 'service' } as const
export const version = (minor: number | string): Record<string, string> => ({
  'OpenStack-API-Version': `accelerator ${typeof minor === 'number' ? `2.${minor}` : minor}`,
})
