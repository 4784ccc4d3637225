import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.springframework.vault.VaultException;
import org.springframework.vault.authentication.TokenAuthentication;
import org.springframework.vault.client.VaultEndpoint;
import org.springframework.vault.core.VaultTemplate;
import org.springframework.vault.support.Policy;
import org.springframework.vault.support.VaultMetadataRequest;
import org.springframework.vault.support.VaultMount;
import org.springframework.vault.support.VaultTokenRequest;
import org.springframework.vault.support.Versioned;

/** Makes calls of Spring Vault as its users make them. */
class SpringVault {
    static VaultTemplate as(String token) {
        URI address = URI.create(System.getenv("VAULT_ADDR"));
        return new VaultTemplate(VaultEndpoint.from(address), new TokenAuthentication(token));
    }

    static void equal(Object got, Object wanted) {
        if (!wanted.equals(got)) throw new AssertionError("got " + got + ", want " + wanted);
    }

    static void refused(Runnable call) {
        try {
            call.run();
        } catch (VaultException expected) {
            return;
        }
        throw new AssertionError("the call was not refused");
    }

    public static void main(String[] args) {
        String mount = System.getenv("MOUNT");
        VaultTemplate vault = as(System.getenv("VAULT_TOKEN"));
        var kv = vault.opsForVersionedKeyValue(mount);
        var first = Versioned.Version.from(1);

        equal(kv.put("shop/db", Map.of("user", "a")).getVersion(), first);
        kv.put("shop/db", Versioned.create(Map.of("user", "b"), first));
        refused(() -> kv.put("shop/db", Versioned.create(Map.of("user", "c"), first)));
        equal(kv.get("shop/db").getData(), Map.of("user", "b"));
        equal(kv.get("shop/db", first).getData(), Map.of("user", "a"));
        equal(kv.list("shop"), List.of("db"));
        kv.delete("shop/db", first);
        equal(kv.get("shop/db", first).getData() == null, true);
        kv.undelete("shop/db", first);
        equal(kv.get("shop/db", first).getData(), Map.of("user", "a"));
        kv.destroy("shop/db", first);

        var metadata = kv.opsForKeyValueMetadata();
        metadata.put("shop/db", VaultMetadataRequest.builder()
            .maxVersions(4).deleteVersionAfter(Duration.ofHours(2)).customMetadata(Map.of("team", "shop")).build());
        var described = metadata.get("shop/db");
        equal(described.getMaxVersions(), 4);
        equal(described.getDeleteVersionAfter(), Duration.ofHours(2));
        // This version of the client leaves getCustomMetadata() null.
        var custom = vault.read(mount + "/metadata/shop/db").getData().get("custom_metadata");
        equal(custom, Map.of("team", "shop"));
        equal(described.getVersions().size(), 2);

        var sys = vault.opsForSys();
        equal(sys.isInitialized(), true);
        sys.mount(mount + "-2", VaultMount.builder().type("kv").options(Map.of("version", "2"))
            .config(Map.of("default_lease_ttl", "1h")).build());
        equal(sys.getMounts().get(mount + "-2/").getOptions().get("version"), "2");
        sys.unmount(mount + "-2");
        var rule = Policy.Rule.builder().path(mount + "/data/*").capability(Policy.BuiltinCapabilities.READ).build();
        sys.createOrUpdatePolicy(mount + "-2", Policy.of(rule));
        equal(sys.getPolicyNames().contains(mount + "-2"), true);
        equal(sys.getPolicy(mount + "-2"), Policy.of(rule));

        var request = VaultTokenRequest.builder().withPolicy(mount + "-2").ttl(Duration.ofHours(1)).renewable().build();
        var token = vault.opsForToken().create(request).getToken();
        var limited = as(token.getToken()).opsForVersionedKeyValue(mount);
        equal(limited.get("shop/db").getData(), Map.of("user", "b"));
        refused(() -> limited.put("shop/db", Map.of("user", "c")));
        vault.opsForToken().renew(token);
        vault.opsForToken().revoke(token);
        refused(() -> limited.get("shop/db"));

        var wrapped = vault.opsForWrapping().wrap(Map.of("password", "x"), Duration.ofMinutes(5));
        equal(vault.opsForWrapping().lookup(wrapped.getToken()).getTtl(), Duration.ofMinutes(5));
        equal(vault.opsForWrapping().read(wrapped.getToken()).getData(), Map.of("password", "x"));

        var login = Map.of("role", System.getenv("ROLE"), "jwt", System.getenv("JWT"));
        equal(vault.write("auth/azure/login", login).getAuth() != null, true);
        metadata.delete("shop/db");
        equal(kv.get("shop/db") == null, true);
        sys.deletePolicy(mount + "-2");
    }
}
