import type { Refusal } from '@secrets/sync-worker';

const docs = (page: string): string => `https://docs.github.com/en/${page}`;
const troubleshooting = (section: string): string =>
  docs(`rest/using-the-rest-api/troubleshooting-the-rest-api#${section}`);
const authentication = (section: string): string =>
  docs(`rest/authentication/authenticating-to-the-rest-api#${section}`);

/** The messages by which the provider's own client for Ruby tells refusals apart. */
const octokit = 'https://github.com/octokit/octokit.rb/blob/main/lib/octokit/error.rb';

/**
 * The documented errors of every call of the driver. The provider sends no error codes: `code` names what a header says,
 * or the status where the driver decides by it.
 */
export const refusals: readonly Refusal[] = [
  {
    status: [403],
    text: /installation .*suspended/i,
    kind: 'unauthenticated',
    sentence: 'the installation is suspended',
    remedy: 'unsuspend it in the settings of the account where it is installed',
    source: docs('apps/maintaining-github-apps/suspending-a-github-app-installation'),
  },
  {
    status: [403],
    text: /account was suspended/i,
    kind: 'unauthenticated',
    sentence: 'the account of the token is suspended',
    remedy: 'use the token of another account, or an application',
    source: docs(
      'enterprise-server@latest/admin/managing-accounts-and-repositories/managing-users-in-your-enterprise/suspending-and-unsuspending-users',
    ),
  },
  {
    code: ['X-GitHub-SSO'],
    kind: 'forbidden',
    sentence: 'the organization requires single sign-on (SAML)',
    remedy: 'authorize the token for the organization, in the settings of the account that has created it',
    source: authentication('personal-access-tokens-and-saml-sso'),
  },
  {
    status: [403],
    text: /SAML enforcement/i,
    kind: 'forbidden',
    sentence: 'the organization requires single sign-on (SAML)',
    remedy: 'authorize the token for the organization, in the settings of the account that has created it',
    source: authentication('personal-access-tokens-and-saml-sso'),
  },
  {
    status: [403],
    text: /IP allow list/i,
    kind: 'forbidden',
    sentence: "the owner's IP allow list does not contain the address of the sync worker",
    remedy: 'add the address to the list',
    source: docs(
      'organizations/keeping-your-organization-secure/managing-security-settings-for-your-organization/managing-allowed-ip-addresses-for-your-organization',
    ),
  },
  {
    status: [403],
    text: /forbids access via a/i,
    kind: 'forbidden',
    sentence: "the owner's policy does not permit this kind of token, or its lifetime",
    remedy: 'create a token that the policy permits, or use an application',
    source: docs(
      'organizations/managing-programmatic-access-to-your-organization/setting-a-personal-access-token-policy-for-your-organization',
    ),
  },
  {
    status: [403],
    text: /OAuth App access restrictions/i,
    kind: 'forbidden',
    sentence: 'the organization restricts OAuth apps',
    remedy: 'approve the app of the token there, or use another kind of token',
    source: docs(
      'organizations/managing-oauth-access-to-your-organizations-data/about-oauth-app-access-restrictions',
    ),
  },
  {
    status: [403, 422],
    text: /was archived/i,
    kind: 'rejected_for_now',
    sentence: 'the repository is archived',
    remedy: 'unarchive it',
    source: docs('repositories/archiving-a-github-repository/archiving-repositories'),
  },
  {
    status: [403],
    text: /locked for migration/i,
    kind: 'rejected_for_now',
    sentence: 'the repository is locked while it is migrated',
    remedy: 'unlock it, or create a destination for its new place',
    source: docs('rest/migrations/orgs#start-an-organization-migration'),
  },
  {
    status: [403],
    text: /repository access blocked/i,
    kind: 'rejected_for_now',
    sentence: 'the provider has disabled the repository',
    remedy: 'its owner has to contact the support of the provider',
    source: docs('site-policy/content-removal-policies/dmca-takedown-policy'),
  },
  {
    status: [451],
    kind: 'rejected_for_now',
    sentence: 'the provider has disabled the repository',
    remedy: 'its owner has to contact the support of the provider',
    source: docs('site-policy/content-removal-policies/dmca-takedown-policy'),
  },
  {
    status: [403],
    text: /upgrade to/i,
    kind: 'rejected_for_now',
    sentence: 'the plan of the account does not include these secrets',
    remedy: 'upgrade the plan: environments of private repositories need a paid one',
    source: docs('actions/how-tos/deploy/configure-and-manage-deployments/manage-environments'),
  },
  {
    status: [403],
    text: /billing issue/i,
    kind: 'rejected_for_now',
    sentence: 'the provider has locked the repository or its owner because of a billing issue',
    remedy: 'settle the billing of the owner with the provider',
    source: octokit,
  },
  {
    status: [403],
    text: /email address must be verified/i,
    kind: 'forbidden',
    sentence: 'the account of the token has no verified e-mail address',
    remedy: 'verify the address in the settings of the account',
    source: octokit,
  },
  {
    status: [403],
    text: /login attempts exceeded/i,
    kind: 'throttled',
    sentence: 'the account is locked for a while, because wrong credentials were used too often',
    source: authentication('failed-login-limit'),
  },
  {
    status: [403],
    text: /admin rights/i,
    kind: 'forbidden',
    sentence: 'the account of the token may not manage these secrets',
    remedy:
      'use the token of an account with write access to the repository, or of an owner of the organization, or an application',
    source: 'https://github.com/github/docs/issues/29818',
  },
  {
    status: [403],
    text: /resource not accessible by/i,
    kind: 'forbidden',
    sentence: 'the token or the application lacks a permission',
    remedy: 'grant it, and accept it where the application is installed',
    source: troubleshooting('resource-not-accessible'),
  },
  {
    code: ['RateLimited'],
    kind: 'throttled',
    sentence: 'too many requests',
    source: docs('rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit'),
  },
  {
    status: [403],
    kind: 'forbidden',
    sentence: 'permission denied',
    remedy: 'check what the token or the application may do with the secrets',
    source: authentication('about-authentication'),
  },
  {
    status: [401],
    kind: 'unauthenticated',
    sentence: 'the credentials were not accepted',
    remedy: 'write a valid token: this one is wrong, has expired or was withdrawn',
    source: authentication('about-authentication'),
  },
  {
    status: [400],
    text: /supported version/i,
    kind: 'rejected_for_now',
    sentence: 'the server does not support the version 2022-11-28 of the API',
    remedy: 'update the server',
    source: troubleshooting('not-a-supported-version'),
  },
  {
    status: [404],
    kind: 'rejected_for_now',
    sentence: 'the object does not exist, or the credentials have no permission for it',
    remedy: 'create it, or grant the permission',
    source: troubleshooting('404-not-found-for-an-existing-resource'),
  },
  {
    status: [409],
    kind: 'rejected_for_now',
    sentence: 'the secret or its place is in another state than expected',
    source: docs('rest/actions/secrets#add-selected-repository-to-an-organization-secret'),
  },
  {
    status: [422],
    kind: 'rejected',
    sentence: 'the name, the value or a setting breaks a rule of the provider',
    remedy: 'compare them with the rules on the page of this type',
    source: troubleshooting('validation-failed'),
  },
  {
    status: [500, 502, 503],
    kind: 'unavailable',
    sentence: 'the service is unavailable',
    source: troubleshooting('timeouts'),
  },
];
