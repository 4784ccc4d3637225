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
];
