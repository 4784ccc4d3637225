export * from './authenticator.ts';
export * from './changes/access-changes.ts';
export * from './changes/change-tags.ts';
export { type Epoch, epochSql } from './changes/epoch.ts';
export * from './decision/stored-identity.ts';
export { isNamespaceName, isReservedName, namespaceAt } from './paths/namespace-names.ts';
export * from './paths/operation.ts';
export * from './paths/path-rules.ts';
export * from './paths/request-path.ts';
export { seenPath } from './paths/seen-path.ts';
export * from './policies/matching/compile-policies.ts';
export { type Conditions, meetsConditions } from './policies/rules/conditions.ts';
export { matchesStars } from './policies/rules/event-types.ts';
export { capabilityNames } from './policies/rules/grant.ts';
export type { RequestParameters } from './policies/rules/parameter-rules.ts';
export * from './policies/rules/policy-rules.ts';
export {
  isEvaluableSql,
  type PolicySize,
  policySizeSql,
  requireEvaluable,
} from './policies/rules/policy-size.ts';
export { Audience, Audiences, forEachAudience } from './policies/store/audiences.ts';
export * from './policies/store/built-in-policies.ts';
export type { PlainRequest } from './policies/store/may-read.ts';
export { permitsEvent, permitsPlainRead } from './policies/store/may-read.ts';
export { readMountAccess } from './policies/store/mount-access.ts';
export * from './policies/store/policy-reader.ts';
export { generatedName } from './policies/store/read-template-values.ts';
export type { BuiltInLimits } from './rate-limits/rate-limits.ts';
export { type AtEpoch, readBatchToken } from './read-access.ts';
export * from './rows/content-row.ts';
export * from './rows/row-guard.ts';
export * from './rows/stored-rows.ts';
export * from './rows/token-row.ts';
export { batchTokenExpiry } from './tokens/access-token.ts';
export * from './tokens/address-ranges.ts';
export * from './tokens/ancestor-expiry.ts';
export * from './tokens/epoch-cache.ts';
export * from './tokens/identity-policies.ts';
export * from './tokens/token.ts';
export * from './tokens/wrapped-space.ts';
