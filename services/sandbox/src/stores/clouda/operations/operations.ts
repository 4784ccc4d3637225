import { createSecret } from './create-secret.ts';
import { deleteSecret, restoreSecret } from './delete-secret.ts';
import { describeSecret } from './describe-secret.ts';
import { getSecretValue } from './get-secret-value.ts';
import { listSecretVersionIds } from './list-secret-version-ids.ts';
import { listSecrets } from './list-secrets.ts';
import type { Operation } from './operation.ts';
import { putSecretValue, updateSecret } from './put-secret-value.ts';
import { removeRegionsFromReplication, replicateSecretToRegions } from './replicate-secret.ts';
import { tagResource, untagResource } from './tag-resource.ts';

/** The supported operations by their name in `X-Amz-Target`. */
export const operations: ReadonlyMap<string, Operation> = new Map([
  ['CreateSecret', createSecret],
  ['DescribeSecret', describeSecret],
  ['GetSecretValue', getSecretValue],
  ['PutSecretValue', putSecretValue],
  ['UpdateSecret', updateSecret],
  ['DeleteSecret', deleteSecret],
  ['RestoreSecret', restoreSecret],
  ['TagResource', tagResource],
  ['UntagResource', untagResource],
  ['ListSecrets', listSecrets],
  ['ListSecretVersionIds', listSecretVersionIds],
  ['ReplicateSecretToRegions', replicateSecretToRegions],
  ['RemoveRegionsFromReplication', removeRegionsFromReplication],
]);
