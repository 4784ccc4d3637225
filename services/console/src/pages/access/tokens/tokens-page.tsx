import { useSearchParams } from 'wouter';
import { dataOf, ifPresent } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { NotAllowed } from '../../../components/problem-notice.tsx';
import { usePermissions } from '../../../session/permissions.ts';
import { useApi } from '../../../session/session.ts';
import { AccessNav } from '../access-nav.tsx';
import { KeyList, pageSize } from '../key-list.tsx';
import { OpenForm } from '../open-form.tsx';
import { TokenDetails } from './token-details.tsx';

const listPath = 'auth/token/accessors';
const lookupPath = 'auth/token/lookup-accessor';

/** Tokens by their accessors, which grant nothing. */
export function TokensPage() {
  const [params, setParams] = useSearchParams();
  const accessor = params.get('accessor');
  const { may, known } = usePermissions([listPath, lookupPath]);
  const open = (chosen: string) => setParams({ accessor: chosen });
  const mayList = may('sudo', listPath);
  return (
    <>
      <AccessNav />
      <PageHeader title="Tokens">An accessor identifies a token and grants nothing.</PageHeader>
      {accessor !== null && <TokenDetails key={accessor} accessor={accessor} onClose={() => setParams({})} />}
      {may('update', lookupPath) && (
        <OpenForm
          label="Accessor"
          help="As the audit log and the list show it."
          action="Look up"
          onOpen={open}
        />
      )}
      {known && !may('update', lookupPath) && (
        <NotAllowed what="This token may not look up others." capability="update" path={lookupPath} />
      )}
      <h2>Accessors in this namespace</h2>
      {mayList && <Accessors onOpen={open} />}
      {known && !mayList && (
        <NotAllowed what="This token may not list accessors." capability="sudo" path={listPath} />
      )}
    </>
  );
}

function Accessors({ onOpen }: { onOpen(accessor: string): void }) {
  const api = useApi();
  const read = async (after: string) => {
    const query = { list: 'true', after, limit: pageSize } as const;
    const answer = await ifPresent(api.GET('/v1/auth/token/accessors', { params: { query } }));
    return answer === undefined ? [] : dataOf(answer).keys;
  };
  const row = (accessor: string) => <Button onPress={() => onOpen(accessor)}>{accessor}</Button>;
  return <KeyList what="accessors" path={listPath} read={read} row={row} />;
}
