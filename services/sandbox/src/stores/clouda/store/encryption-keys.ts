import { AwsError, invalidParameter } from '../aws-error.ts';

interface EncryptionKey {
  id: string;
  alias: string;
  /** The only region of the ID, unless the key is a multi-region key. An alias leads to a key in every region. */
  region?: string;
  refusal?: AwsError;
}

/** https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_CreateSecret.html#API_CreateSecret_Errors */
const disabled = new AwsError(
  'EncryptionFailure',
  "Secrets Manager can't encrypt the protected secret text using the provided KMS key. Check that the KMS key is available, enabled, and not in an invalid state.",
);
const denied = new AwsError('AccessDeniedException', 'Access to KMS is not allowed');

/** The IDs are those of the examples in https://docs.aws.amazon.com/kms/latest/developerguide/concepts.html. */
const keys: readonly EncryptionKey[] = [
  { alias: 'alias/aws/secretsmanager', id: '' },
  { alias: 'alias/sandbox', id: '1234abcd-12ab-34cd-56ef-1234567890ab', region: 'eu-central-1' },
  { alias: 'alias/sandbox-other', id: '0987dcba-09fe-87dc-65ba-ab0987654321', region: 'eu-west-1' },
  { alias: 'alias/sandbox-multi-region', id: 'mrk-1234abcd12ab34cd56ef1234567890ab' },
  { alias: 'alias/sandbox-disabled', id: '5555abcd-12ab-34cd-56ef-1234567890ab', refusal: disabled },
  { alias: 'alias/sandbox-denied', id: '6666abcd-12ab-34cd-56ef-1234567890ab', refusal: denied },
];

/**
 * Requires that the caller can encrypt with a key in a region. Empty means the provider's own key, as none does. A key exists in
 * its region only; multi-region keys have the same ID in each
 * (https://docs.aws.amazon.com/kms/latest/developerguide/multi-region-keys-overview.html).
 * @throws AwsError as the service does, which passes on what the key management service says
 */
export function requireKey(
  given: string | undefined,
  { region, account }: { region: string; account: string },
) {
  if (given === undefined || given === '') return;
  const [, keyRegion = region, keyAccount = account, name = ''] =
    /^(?:arn:aws:kms:([^:]*):([^:]*):(?:key\/)?)?(.+)$/.exec(given) ?? [];
  const key = keys.find(({ id, alias }) => name === alias || (id !== '' && name === id));
  const isThere =
    keyRegion === region && (key?.region === undefined || name === key.alias || key.region === region);
  if (key === undefined || !isThere)
    throw invalidParameter('The operation failed because of an invalid KMS key: Invalid keyId');
  const refusal = keyAccount === account ? key.refusal : denied;
  if (refusal !== undefined) throw refusal;
}
