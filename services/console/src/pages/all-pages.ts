import type { ComponentType } from 'react';
import type { Capability } from '../api/problem.ts';
import { loadedPage } from '../upgrade/load-page.ts';
import { destinationTypes } from './destinations/form/destination-types.ts';

/** A page of the console. Each is loaded when it is first shown. */
export interface Page {
  /** Below `/ui`, in wouter's syntax. */
  path: string;
  /** Its name in the navigation; absent for pages that others lead to. */
  label?: string;
  component: ComponentType;
  /** The navigation offers the page to tokens that have one of these. Default: to all. */
  needs?: readonly Need[];
}

/** A capability on a path. */
interface Need {
  capability: Capability;
  path: string;
}

/** Every page. The first one that matches is shown. */
export const pages: readonly Page[] = [
  {
    path: '/',
    label: 'Overview',
    needs: ['status', 'lanes', 'throughput'].map((name) => ({
      capability: 'read',
      path: `sys/sync/${name}`,
    })),
    component: loadedPage(async () => (await import('./overview/overview-page.tsx')).OverviewPage),
  },
  {
    path: '/destinations',
    label: 'Destinations',
    needs: Object.keys(destinationTypes).map((type) => ({
      capability: 'list',
      path: `sys/sync/destinations/${type}`,
    })),
    component: loadedPage(
      async () => (await import('./destinations/destinations-page.tsx')).DestinationsPage,
    ),
  },
  {
    path: '/destinations/new',
    component: loadedPage(
      async () => (await import('./destinations/new-destination-page.tsx')).NewDestinationPage,
    ),
  },
  {
    path: '/destinations/:type/:name',
    component: loadedPage(async () => (await import('./destinations/destination-page.tsx')).DestinationPage),
  },
  {
    path: '/destinations/:type/:name/edit',
    component: loadedPage(
      async () => (await import('./destinations/edit-destination-page.tsx')).EditDestinationPage,
    ),
  },
  {
    path: '/destinations/:type/:name/replan',
    component: loadedPage(async () => (await import('./destinations/replan-page.tsx')).ReplanPage),
  },
  {
    path: '/destinations/:type/:name/history',
    component: loadedPage(async () => (await import('./associations/history/history-page.tsx')).HistoryPage),
  },
  {
    path: '/destinations/:type/:name/rules',
    component: loadedPage(async () => (await import('./rules/rules-page.tsx')).RulesPage),
  },
  {
    path: '/destinations/:type/:name/new-rule',
    component: loadedPage(async () => (await import('./rules/write/write-rule-page.tsx')).NewRulePage),
  },
  {
    path: '/destinations/:type/:name/rules/:rule',
    component: loadedPage(async () => (await import('./rules/rule-page.tsx')).RulePage),
  },
  {
    path: '/destinations/:type/:name/rules/:rule/edit',
    component: loadedPage(async () => (await import('./rules/write/write-rule-page.tsx')).EditRulePage),
  },
  {
    path: '/associations',
    label: 'Associations',
    needs: [
      { capability: 'list', path: 'sys/sync/associations' },
      { capability: 'read', path: 'sys/sync/associations/destinations' },
    ],
    component: loadedPage(
      async () => (await import('./associations/associations-page.tsx')).AssociationsPage,
    ),
  },
  {
    path: '/associations/secret',
    component: loadedPage(async () => (await import('./associations/of-secret-page.tsx')).OfSecretPage),
  },
  {
    path: '/secrets',
    label: 'Secrets',
    component: loadedPage(async () => (await import('./secrets/browse/secrets-page.tsx')).SecretsPage),
  },
  {
    path: '/secrets/secret',
    component: loadedPage(async () => (await import('./secrets/secret/secret-page.tsx')).SecretPage),
  },
  {
    path: '/access',
    label: 'Access',
    component: loadedPage(async () => (await import('./access/auth/auth-mounts-page.tsx')).AuthMountsPage),
  },
  {
    path: '/access/auth',
    component: loadedPage(async () => (await import('./access/auth/auth-mount-page.tsx')).AuthMountPage),
  },
  {
    path: '/access/auth/role',
    component: loadedPage(async () => (await import('./access/auth/role-page.tsx')).RolePage),
  },
  {
    path: '/access/policies',
    component: loadedPage(async () => (await import('./access/policies/policies-page.tsx')).PoliciesPage),
  },
  {
    path: '/access/policies/policy',
    component: loadedPage(async () => (await import('./access/policies/policy-page.tsx')).PolicyPage),
  },
  {
    path: '/access/tokens',
    component: loadedPage(async () => (await import('./access/tokens/tokens-page.tsx')).TokensPage),
  },
  {
    path: '/access/namespaces',
    component: loadedPage(
      async () => (await import('./access/namespaces/namespaces-page.tsx')).NamespacesPage,
    ),
  },
  {
    path: '/api',
    label: 'API',
    component: loadedPage(async () => (await import('./api/api-page.tsx')).ApiPage),
  },
  {
    path: '/api/operation',
    component: loadedPage(async () => (await import('./api/operation-page.tsx')).OperationPage),
  },
];
