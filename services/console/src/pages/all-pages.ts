import { type ComponentType, lazy } from 'react';

/** A page of the console. Each is loaded when it is first shown. */
export interface Page {
  /** Below `/ui`, in wouter's syntax. */
  path: string;
  /** Its name in the navigation; absent for pages that others lead to. */
  label?: string;
  component: ComponentType;
}

/** Every page. The first one that matches is shown. */
export const pages: readonly Page[] = [
  {
    path: '/',
    label: 'Overview',
    component: lazy(async () => ({ default: (await import('./overview/overview-page.tsx')).OverviewPage })),
  },
  {
    path: '/secrets',
    label: 'Secrets',
    component: lazy(async () => ({
      default: (await import('./secrets/browse/secrets-page.tsx')).SecretsPage,
    })),
  },
  {
    path: '/secrets/secret',
    component: lazy(async () => ({ default: (await import('./secrets/secret/secret-page.tsx')).SecretPage })),
  },
  {
    path: '/access',
    label: 'Access',
    component: lazy(async () => ({
      default: (await import('./access/auth/auth-mounts-page.tsx')).AuthMountsPage,
    })),
  },
  {
    path: '/access/auth',
    component: lazy(async () => ({
      default: (await import('./access/auth/auth-mount-page.tsx')).AuthMountPage,
    })),
  },
  {
    path: '/access/auth/role',
    component: lazy(async () => ({ default: (await import('./access/auth/role-page.tsx')).RolePage })),
  },
  {
    path: '/access/policies',
    component: lazy(async () => ({
      default: (await import('./access/policies/policies-page.tsx')).PoliciesPage,
    })),
  },
  {
    path: '/access/policies/policy',
    component: lazy(async () => ({
      default: (await import('./access/policies/policy-page.tsx')).PolicyPage,
    })),
  },
  {
    path: '/access/tokens',
    component: lazy(async () => ({ default: (await import('./access/tokens/tokens-page.tsx')).TokensPage })),
  },
  {
    path: '/access/namespaces',
    component: lazy(async () => ({
      default: (await import('./access/namespaces/namespaces-page.tsx')).NamespacesPage,
    })),
  },
];
