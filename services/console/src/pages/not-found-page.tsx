import { Link } from 'wouter';
import { PageHeader } from '../components/page-header.tsx';

/** Shown for an address that no page has. */
export const NotFoundPage = () => (
  <>
    <PageHeader title="No such page">The address is not one of the console.</PageHeader>
    <Link href="/">To the overview</Link>
  </>
);
