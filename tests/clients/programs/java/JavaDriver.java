import io.github.jopenlibs.vault.Vault;
import io.github.jopenlibs.vault.VaultConfig;
import io.github.jopenlibs.vault.VaultException;
import io.github.jopenlibs.vault.api.Auth.TokenRequest;
import io.github.jopenlibs.vault.api.WriteOptions;
import io.github.jopenlibs.vault.json.JsonObject;
import java.util.List;
import java.util.Map;

/** Makes calls of vault-java-driver as its users make them. */
class JavaDriver {
    static final String MOUNT = System.getenv("MOUNT");

    static Vault as(String token) throws VaultException {
        var config = new VaultConfig().address(System.getenv("VAULT_ADDR")).token(token)
            .putSecretsEngineVersionForPath(MOUNT + "/", "2").build();
        return Vault.create(config, false, 2);
    }

    static void equal(Object got, Object wanted) {
        if (!wanted.equals(got)) throw new AssertionError("got " + got + ", want " + wanted);
    }

    interface Call {
        void run() throws VaultException;
    }

    static void refused(int status, Call call) {
        try {
            call.run();
        } catch (VaultException refusal) {
            equal(refusal.getHttpStatusCode(), status);
            return;
        }
        throw new AssertionError("the call was not refused");
    }

    public static void main(String[] args) throws VaultException {
        Vault vault = as(System.getenv("VAULT_TOKEN"));
        var kv = vault.logical();
        String path = MOUNT + "/shop/db";

        kv.write(path, Map.of("user", "a"));
        kv.write(path, Map.of("user", "b"), null, new WriteOptions().checkAndSet(1L).build());
        var conflict = kv.write(path, Map.of("user", "c"), null, new WriteOptions().checkAndSet(1L).build());
        equal(conflict.getRestResponse().getStatus(), 400); // logical() returns refusals, the rest throws them
        equal(kv.read(path).getData(), Map.of("user", "b"));
        equal(kv.read(path, true, 1).getData(), Map.of("user", "a"));
        equal(kv.read(path).getDataMetadata().getVersion(), 2L);
        equal(kv.list(MOUNT + "/shop").getListData(), List.of("db"));
        kv.delete(path, new int[] {1});
        kv.unDelete(path, new int[] {1});
        equal(kv.read(path, true, 1).getData(), Map.of("user", "a"));
        kv.destroy(path, new int[] {1});

        var request = new TokenRequest().polices(List.of(MOUNT)).ttl("1h").renewable(true);
        Vault limited = as(vault.auth().createToken(request).getAuthClientToken());
        equal(limited.logical().read(path).getData(), Map.of("user", "b"));
        equal(limited.logical().write(path, Map.of("user", "c")).getRestResponse().getStatus(), 403);
        equal(limited.auth().lookupSelf().getPolicies(), List.of("default", MOUNT));
        equal(limited.auth().renewSelf(7200).getAuthLeaseDuration(), 7200L);
        limited.auth().revokeSelf();
        refused(403, () -> limited.auth().lookupSelf());

        var wrapped = vault.auth().wrap(new JsonObject().add("password", "x"), 60).getToken();
        equal(vault.auth().unwrap(wrapped).getData().getString("password", ""), "x");
        refused(400, () -> vault.auth().unwrap(wrapped));

        var login = vault.auth().loginByJwt("azure", System.getenv("ROLE"), System.getenv("JWT"));
        equal(as(login.getAuthClientToken()).logical().read(path).getData(), Map.of("user", "b"));
        kv.delete(path);
    }
}
