import {
  invalid,
  requiredSetting,
  secretSetting,
  setting,
  storedSettings,
  withoutNul,
} from '@secrets/domain';
import { flag } from '@secrets/http';
import { z } from 'zod';
import { certificates, publicKeys, trustedUrl } from '../../verification/keys/key-fields.ts';

const host = trustedUrl
  .min(1, 'must not be empty')
  .refine((given) => !URL.canParse(given) || new URL(given).search === '', {
    error: 'must be a URL without a query',
  })
  .meta({ pattern: '^https://[a-z0-9-]+(?:[.][a-z0-9-]+)*(?:/[A-Za-z0-9._-]+)*$' });

/** A token that a header can contain. */
const reviewerJwt = z
  .string()
  .trim()
  .max(16_384)
  .refine((given) => /^[!-~]*$/.test(given), { error: 'must be a token' })
  .meta({ pattern: '^[!-~]*$' });

/** The fields of a configuration (docs/conventions/kubernetes.md#configuration). */
export const kubernetesConfigFields = storedSettings({
  kubernetes_host: requiredSetting(host),
  kubernetes_ca_cert: setting(certificates, {
    default: '',
    help: 'certificates that are trusted for it in place of those of the system',
  }),
  token_reviewer_jwt: secretSetting(reviewerJwt, {
    help: 'the token of a service account that may review tokens; never shown: `token_reviewer_jwt_set` says whether there is one',
  }),
  pem_keys: setting(publicKeys, {
    default: [],
    help: 'public keys or certificates in PEM, one of which must have signed a token',
  }),
  issuer: setting(z.string().trim().max(2_048).meta(withoutNul), {
    default: '',
    help: 'what `iss` must be; without `disable_iss_validation`, it is checked',
  }),
  disable_iss_validation: setting(flag, {
    default: true,
    help: 'whether `iss` is not checked; false by default with `issuer`',
  }),
  disable_local_ca_jwt: setting(flag, {
    default: false,
    help: 'no effect: the token and certificates of the pod of login are never used',
  }),
});

/** A mount's configuration as it is stored, and whether a reviewer's token is stored with it. */
export type KubernetesConfig = ReturnType<typeof kubernetesConfigFields.read> & {
  token_reviewer_jwt_set: boolean;
};

/** The body of `auth/<mount>/config`. It replaces the whole configuration, as in Vault. */
export const KubernetesConfigBody = kubernetesConfigFields.body;
export type KubernetesConfigBody = z.infer<typeof KubernetesConfigBody>;

const object = 'the configuration of this auth mount';

/** A configuration in a row. Throws what `readStored` throws. */
export const readKubernetesConfig = (row: object): KubernetesConfig => ({
  ...kubernetesConfigFields.read(row, object),
  token_reviewer_jwt_set: (row as Partial<KubernetesConfig>).token_reviewer_jwt_set === true,
});

/** The configuration that a request describes. Throws `invalid` if it is not valid. */
export function kubernetesConfigOf({
  token_reviewer_jwt = '',
  ...body
}: KubernetesConfigBody): KubernetesConfig {
  const { issuer = '', disable_iss_validation = issuer === '' } = body;
  if (!disable_iss_validation && issuer === '')
    throw invalid('issuer is required if disable_iss_validation is false');
  return {
    ...kubernetesConfigFields.merged(undefined, { ...body, disable_iss_validation }, object),
    token_reviewer_jwt_set: token_reviewer_jwt !== '',
  };
}

/** The configuration as responses contain it. */
export const shownKubernetesConfig = (config: KubernetesConfig): object => ({
  ...kubernetesConfigFields.shown(config),
  token_reviewer_jwt_set: config.token_reviewer_jwt_set,
});

/** The issuer that tokens must have; undefined if any will do. */
export const issuerOf = ({ issuer, disable_iss_validation }: KubernetesConfig): string | undefined =>
  disable_iss_validation ? undefined : issuer;

/** A URL below that of the API server. */
export const serverUrl = ({ kubernetes_host }: Pick<KubernetesConfig, 'kubernetes_host'>, path: string) =>
  `${kubernetes_host.replace(/\/+$/, '')}${path}`;

/** Warnings for the author of a configuration. */
export function kubernetesConfigWarnings(config: KubernetesConfig): string[] {
  const sentences = [];
  if (!config.token_reviewer_jwt_set)
    sentences.push(
      config.pem_keys.length > 0
        ? 'token_reviewer_jwt is not set: tokens of deleted pods and service accounts are accepted until they expire'
        : 'token_reviewer_jwt and pem_keys are not set: tokens are verified with the key set of the cluster if it is published, and otherwise reviewed with the token of the login itself',
    );
  if (config.disable_iss_validation && config.issuer !== '')
    sentences.push('issuer: has no effect with disable_iss_validation');
  return sentences;
}
