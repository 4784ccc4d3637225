//! Makes calls of vaultrs as its users make them.
use std::collections::HashMap;
use std::env;
use std::time::Duration;

use serde_json::{json, Value};
use vaultrs::api::kv2::requests::{SetSecretMetadataRequestBuilder, SetSecretRequestOptions};
use vaultrs::api::token::requests::CreateTokenRequestBuilder;
use vaultrs::client::{VaultClient, VaultClientSettingsBuilder};
use vaultrs::error::ClientError;
use vaultrs::{kv2, sys, token};

fn variable(name: &str) -> String {
    env::var(name).expect(name)
}

/// Returns a client with this token. The address is taken from the environment.
fn client(token: &str) -> VaultClient {
    let settings = VaultClientSettingsBuilder::default()
        .token(token)
        .timeout(Some(Duration::from_secs(30)))
        .build()
        .expect("settings");
    VaultClient::new(settings).expect("client")
}

/// Requires a status. The answer for a deleted version has data and no errors, so it is another kind of error of the client.
fn refused<T>(result: Result<T, ClientError>, status: u16) {
    let error = result.err().expect("an error");
    let shown = format!("{error:?}");
    assert!(shown.contains(&format!("code: {status}")), "expected the status {status}, got: {shown}");
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mount = &variable("MOUNT");
    let root = &client(&variable("VAULT_TOKEN"));
    let user = |name: &str| json!({ "user": name });

    let at = |cas| SetSecretRequestOptions { cas };
    let path = "shop/db";
    let first = kv2::set_with_options(root, mount, path, &user("a"), at(0)).await;
    assert_eq!(first.unwrap().version, 1);
    assert_eq!(kv2::set(root, mount, path, &user("b")).await.unwrap().version, 2);
    refused(kv2::set_with_options(root, mount, path, &user("c"), at(1)).await, 400);
    assert_eq!(kv2::read::<Value>(root, mount, path).await.unwrap(), user("b"));
    assert_eq!(kv2::read_version::<Value>(root, mount, path, 1).await.unwrap(), user("a"));
    assert_eq!(kv2::list(root, mount, "shop").await.unwrap(), ["db"]);

    kv2::delete_latest(root, mount, path).await.unwrap();
    refused(kv2::read::<Value>(root, mount, path).await, 404);
    kv2::undelete_versions(root, mount, path, vec![2]).await.unwrap();
    kv2::destroy_versions(root, mount, path, vec![1]).await.unwrap();
    let mut settings = SetSecretMetadataRequestBuilder::default();
    settings
        .max_versions(4u64)
        .delete_version_after("2h")
        .custom_metadata(HashMap::from([("team".to_string(), "shop".to_string())]));
    kv2::set_metadata(root, mount, path, Some(&mut settings)).await.unwrap();
    let described = kv2::read_metadata(root, mount, path).await.unwrap();
    assert_eq!((described.current_version, described.max_versions), (2, 4));
    assert_eq!(described.delete_version_after, "2h0m0s");
    assert_eq!(described.custom_metadata.unwrap()["team"], "shop");
    assert!(described.versions["1"].destroyed && !described.versions["2"].destroyed);

    let name = &format!("{mount}-2");
    let rules = &format!("path \"{mount}/data/*\" {{ capabilities = [\"read\"] }}");
    sys::policy::set(root, name, rules).await.unwrap();
    assert_eq!(&sys::policy::read(root, name).await.unwrap().rules, rules);
    assert!(sys::policy::list(root).await.unwrap().policies.contains(name));
    let mut wanted = CreateTokenRequestBuilder::default();
    wanted.policies(vec![name.clone()]).ttl("1h");
    let created = token::new(root, Some(&mut wanted)).await.unwrap();
    let limited = &client(&created.client_token);
    assert_eq!(kv2::read::<Value>(limited, mount, path).await.unwrap(), user("b"));
    refused(kv2::delete_latest(limited, mount, path).await, 403);
    assert_eq!(token::lookup_self(limited).await.unwrap().accessor, created.accessor);
    token::renew_self(limited, Some("30m")).await.unwrap();
    token::revoke_self(limited).await.unwrap();
    refused(token::lookup_self(limited).await, 403);

    assert!(sys::mount::list(root).await.unwrap().contains_key(&format!("{mount}/")));
    assert!(sys::auth::list(root).await.unwrap().contains_key("azure/"));
    assert!(sys::health(root).await.unwrap().initialized);

    kv2::delete_metadata(root, mount, path).await.unwrap();
    refused(kv2::read_metadata(root, mount, path).await, 404);
    sys::policy::delete(root, name).await.unwrap();
}
