import { expect, test } from '@jest/globals';
import { useJwt } from './jwt-for-test.ts';

// Tokens in the form of each issuer that docs/operations/login.md names, with one kind of binding
// each. The roles of the pages to copy are tested as they are written, by `npm run clients -- pages`.

const { jwt } = useJwt();

interface Preset {
  claims: Record<string, unknown>;
  role: Record<string, unknown>;
  /** Claims of a neighbour of the same issuer, who must not log in. */
  neighbour: Record<string, unknown>;
}

const presets: Record<string, Preset> = {
  'GitHub Actions': {
    claims: {
      jti: 'a1',
      sub: 'repo:acme/shop:ref:refs/heads/main',
      ref: 'refs/heads/main',
      repository: 'acme/shop',
      repository_owner: 'acme',
      run_attempt: '2',
      ref_protected: 'true',
    },
    role: { bound_claims_type: 'glob', bound_claims: { sub: 'repo:acme/shop:ref:refs/heads/*' } },
    neighbour: { sub: 'repo:acme/shop-evil:ref:refs/heads/main' },
  },
  'GitHub Actions, by repository and environment': {
    claims: { sub: 'repo:acme/shop:environment:prod', repository: 'acme/shop', environment: 'prod' },
    role: { bound_claims: { repository: 'acme/shop', environment: 'prod' } },
    neighbour: { environment: 'test' },
  },
  'GitLab CI': {
    claims: {
      jti: 'b1',
      sub: 'project_path:acme/shop:ref_type:branch:ref:main',
      project_path: 'acme/shop',
      project_id: '7',
      ref: 'main',
      ref_type: 'branch',
      ref_protected: 'true',
      groups_direct: ['acme/team'],
    },
    role: {
      bound_claims: { project_path: 'acme/shop', ref_protected: 'true', ref: 'main' },
      groups_claim: 'groups_direct',
    },
    neighbour: { ref_protected: 'false' },
  },
  Kubernetes: {
    claims: {
      sub: 'system:serviceaccount:shop:web',
      'kubernetes.io': {
        namespace: 'shop',
        node: { name: 'node-1', uid: 'u0' },
        pod: { name: 'web-1', uid: 'u1' },
        serviceaccount: { name: 'web', uid: 'u2' },
      },
    },
    role: {
      bound_subject: 'system:serviceaccount:shop:web',
      user_claim: '/kubernetes.io/serviceaccount/uid',
      user_claim_json_pointer: true,
      claim_mappings: { '/kubernetes.io/namespace': 'namespace' },
    },
    neighbour: { sub: 'system:serviceaccount:shop:web2' },
  },
  'Kubernetes, by namespace': {
    claims: { sub: 'system:serviceaccount:shop:web', 'kubernetes.io': { namespace: 'shop' } },
    role: { bound_claims: { 'kubernetes.io.namespace': 'shop' } },
    neighbour: { 'kubernetes.io': { namespace: 'shop2' } },
  },
  'Microsoft Entra ID': {
    claims: {
      sub: 'pairwise',
      oid: '11111111-aaaa-4bbb-8ccc-222222222222',
      azp: 'client',
      uti: 'c1',
      ver: '2.0',
      groups: ['33333333-aaaa-4bbb-8ccc-444444444444'],
    },
    role: { user_claim: 'oid', bound_claims: { azp: 'client' }, groups_claim: 'groups', jwt_once: true },
    neighbour: { azp: 'other', uti: 'c2' },
  },
  Keycloak: {
    claims: {
      sub: 'f1',
      azp: 'shop',
      typ: 'Bearer',
      realm_access: { roles: ['deployer', 'offline_access'] },
    },
    role: { bound_claims: { azp: 'shop', 'realm_access.roles': 'deployer' } },
    neighbour: { realm_access: { roles: ['offline_access'] } },
  },
  'a SPIFFE JWT-SVID': {
    claims: { sub: 'spiffe://acme.example/ns/shop/sa/web' },
    role: { bound_claims_type: 'glob', bound_claims: { sub: 'spiffe://acme.example/ns/shop/sa/*' } },
    neighbour: { sub: 'spiffe://acme.example/ns/shop/sa/web/admin' },
  },
  'Terraform Cloud': {
    claims: {
      sub: 'organization:acme:project:shop:workspace:prod:run_phase:apply',
      terraform_organization_name: 'acme',
      terraform_workspace_name: 'prod',
      terraform_run_phase: 'apply',
    },
    role: {
      bound_claims_type: 'glob',
      bound_claims: { sub: 'organization:acme:project:shop:workspace:prod:run_phase:*' },
    },
    neighbour: { sub: 'organization:acme:project:shop:workspace:prod-2:run_phase:apply' },
  },
};

test.each(Object.entries(presets))(
  'a token of %s logs in, and one of its neighbour does not',
  async (name, preset) => {
    const role = name.replace(/\W+/g, '-').toLowerCase();
    const written = await jwt.writeRole(role, { bound_subject: '', ...preset.role });
    expect(written.status).toBe(204);
    const { status, body } = await jwt.logInWith(preset.claims, role);
    expect([status, body.errors]).toEqual([200, undefined]);
    expect((await jwt.logInWith({ ...preset.claims, ...preset.neighbour }, role)).status).toBe(403);
  },
);
