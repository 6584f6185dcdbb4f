/** The contract with Keystone on its double; `test/cloud` runs it on the real one. */
import { afterAll, beforeAll, describe } from 'vitest'
import { keystoneContract } from '../../contracts/keystone.contract.ts'
import { type KeystoneDouble, keystoneDouble } from './keystoneDouble.ts'

describe('the double of Keystone', () => {
  let double: KeystoneDouble
  beforeAll(async () => {
    double = await keystoneDouble()
    double.lifeMs = 2000
  })
  afterAll(() => double.close())
  keystoneContract(() => ({ authUrl: double.authUrl, lifeMs: double.lifeMs }))
})
