/**
 * Which topics and brokers there are. kafkajs asks twice: why a broker did not answer the second time it keeps to itself, and
 * fails with a TypeError on the answer it has not got.
 */
import type { Admin } from 'kafkajs'
import { Unanswered } from './errors.ts'

const explained = (error: unknown): never => {
  throw error instanceof TypeError ? new Unanswered('no broker said which topics and brokers there are') : error
}

export const topicsOf = (admin: Admin, topics: readonly string[]): ReturnType<Admin['fetchTopicMetadata']> =>
  admin.fetchTopicMetadata({ topics: [...topics] }).catch(explained)

export const clusterOf = (admin: Admin): ReturnType<Admin['describeCluster']> =>
  admin.describeCluster().catch(explained)
