import { Link, useLocation } from 'wouter';
import { dataOf, ifPresent } from '../../../api/client.ts';
import { PageHeader } from '../../../components/page-header.tsx';
import { useApi } from '../../../session/session.ts';
import { AccessNav } from '../access-nav.tsx';
import { KeyList, pageSize } from '../key-list.tsx';
import { OpenForm } from '../open-form.tsx';
import { CapabilityCheck } from './capability-check.tsx';

/** The address of a policy. */
const policyHref = (name: string) => `/access/policies/policy?${new URLSearchParams({ name })}`;

/** The policies, and a check of what a token may do. */
export function PoliciesPage() {
  const api = useApi();
  const [, navigate] = useLocation();
  const read = async (after: string) => {
    const query = { list: 'true', after, limit: pageSize } as const;
    const answer = await ifPresent(api.GET('/v1/sys/policies/acl', { params: { query } }));
    return answer === undefined ? [] : dataOf(answer).keys;
  };
  return (
    <>
      <AccessNav />
      <PageHeader title="Policies">They grant tokens what they may do, by path.</PageHeader>
      <KeyList
        what="policies"
        path="sys/policies/acl"
        read={read}
        row={(name) => <Link href={policyHref(name)}>{name}</Link>}
      />
      <h2>Open or create a policy</h2>
      <OpenForm
        label="Name of the policy"
        help="One that does not exist yet is created when it is saved."
        action="Open"
        onOpen={(name) => navigate(policyHref(name))}
      />
      <CapabilityCheck />
    </>
  );
}
