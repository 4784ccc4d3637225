import { randomUUID } from 'node:crypto';

/** The claims of a token, and claims that replace some of them; undefined removes one. */
export type Claims = Record<string, unknown>;

const secondsNow = () => Math.floor(Date.now() / 1_000);
const times = (lifetime: number) => ({
  iat: secondsNow(),
  nbf: secondsNow() - 5,
  exp: secondsNow() + lifetime,
});
const commit = '9c2d4e6f8a0b1c3d5e7f9a0b2c4d6e8f0a1b3c5d';

/** Claims of a job of GitHub Actions: https://docs.github.com/en/actions/reference/security/oidc */
export const githubClaims = (iss: string, audience: string): Claims => ({
  jti: randomUUID(),
  sub: 'repo:acme/shop:environment:production',
  aud: audience,
  ref: 'refs/heads/main',
  sha: commit,
  repository: 'acme/shop',
  repository_owner: 'acme',
  repository_owner_id: '65',
  run_id: '1234567890',
  run_number: '10',
  run_attempt: '2',
  repository_visibility: 'private',
  repository_id: '74',
  actor_id: '12',
  actor: 'octocat',
  workflow: 'deploy',
  head_ref: '',
  base_ref: '',
  event_name: 'push',
  ref_protected: 'true',
  ref_type: 'branch',
  workflow_ref: 'acme/shop/.github/workflows/deploy.yml@refs/heads/main',
  workflow_sha: commit,
  job_workflow_ref: 'acme/shop/.github/workflows/deploy.yml@refs/heads/main',
  job_workflow_sha: commit,
  runner_environment: 'github-hosted',
  environment: 'production',
  environment_node_id: 'EN_kwDOAA',
  check_run_id: '987654321',
  enterprise: 'acme-corp',
  enterprise_id: '2',
  iss,
  ...times(300),
});

/** Claims of a job of GitLab CI: https://docs.gitlab.com/ci/secrets/id_token_authentication */
export const gitlabClaims = (iss: string, audience: string): Claims => ({
  namespace_id: '72',
  namespace_path: 'acme',
  project_id: '20',
  project_path: 'acme/shop',
  user_id: '1',
  user_login: 'sample-user',
  user_email: 'sample-user@acme.example',
  user_access_level: 'developer',
  user_identities: [{ provider: 'saml', extern_uid: '2435223452345' }],
  pipeline_id: '574',
  pipeline_source: 'push',
  job_id: '302',
  ref: 'main',
  ref_type: 'branch',
  ref_path: 'refs/heads/main',
  ref_protected: 'true',
  groups_direct: ['acme/team', 'others/group'],
  environment: 'production',
  environment_protected: 'true',
  deployment_tier: 'production',
  environment_action: 'start',
  runner_id: 1,
  runner_environment: 'self-hosted',
  sha: commit,
  project_visibility: 'private',
  ci_config_ref_uri: 'gitlab.com/acme/shop//.gitlab-ci.yml@refs/heads/main',
  ci_config_sha: commit,
  jti: randomUUID(),
  iss,
  sub: 'project_path:acme/shop:ref_type:branch:ref:main',
  aud: audience,
  ...times(3_600),
});

/** Claims of a phase of a run of Terraform Cloud: https://developer.hashicorp.com/terraform/cloud-docs/dynamic-provider-credentials/workload-identity-tokens */
export const terraformClaims = (iss: string, audience: string, phase: string): Claims => ({
  jti: randomUUID(),
  iss,
  aud: audience,
  sub: `organization:acme:project:Default Project:workspace:shop:run_phase:${phase}`,
  terraform_organization_id: 'org-GRNbCjYNpBB6NEBH',
  terraform_organization_name: 'acme',
  terraform_project_id: 'prj-vegSA59s1XPwMr2t',
  terraform_project_name: 'Default Project',
  terraform_workspace_id: 'ws-mbsd5E3Ktt5Rg2Xm',
  terraform_workspace_name: 'shop',
  terraform_full_workspace: 'organization:acme:project:Default Project:workspace:shop',
  terraform_run_id: 'run-X3n1AUXNGWbfECsJ',
  terraform_run_phase: phase,
  ...times(3_600),
});
