// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.NodeSelector;
import io.dra4j.kubectl.explain.Subject.Allocated;
import io.dra4j.kubectl.explain.Subject.Blocker;
import io.dra4j.kubectl.read.ReadException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads a pod with its claims, or a claim. */
final class SubjectReader {
    private final ObjectFinder objects;
    private final String namespace;
    private final List<Claim> pending = new ArrayList<>();
    private final List<Allocated> allocated = new ArrayList<>();
    private final Map<String, String> templates = new LinkedHashMap<>();
    private final List<Blocker> blockers = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private Optional<List<JsonNode>> events = Optional.empty();

    SubjectReader(ObjectFinder objects, String namespace) {
        this.objects = objects;
        this.namespace = namespace;
    }

    /**
     * Reads a pod of the cluster.
     *
     * @throws ReadException if there is none
     */
    Subject pod(String name) {
        JsonNode pod = objects.pod(namespace, name).orElseThrow(() -> missing("pod", name, "pods"));
        events = objects.events(namespace, name);
        return pod(pod, SchedulerWords.of(pod, events.orElse(List.of())));
    }

    private ReadException missing(String kind, String name, String plural) {
        return new ReadException(
                "There is no %s %s in namespace %s; `kubectl get %s -A` lists all, -n chooses a namespace"
                        .formatted(kind, name, namespace, plural));
    }

    /** Treats a pod of a file, or one of the pods of its workload, as one that is not created yet. */
    Subject podOfFile(JsonNode pod, long pods) {
        if (pods > 1) {
            notes.add("Only one of the workload's %d pods was tried: together, they may need more devices."
                    .formatted(pods));
        }
        return pod(pod, List.of("Nothing: the pod is only in the file, and has not been created yet."));
    }

    private Subject pod(JsonNode pod, List<String> scheduler) {
        String name =
                pod.at("/metadata/name").asText(pod.at("/metadata/generateName").asText());
        for (JsonNode entry : pod.at("/spec/resourceClaims")) {
            addEntry(pod, name, entry);
        }
        String extended =
                pod.at("/status/extendedResourceClaimStatus/resourceClaimName").asText();
        if (!extended.isEmpty()) {
            notes.add("Its extended resources are in claim %s.".formatted(extended));
            addNamed(pod, extended);
        }
        for (JsonNode gate : pod.at("/spec/schedulingGates")) {
            String one = gate.path("name").asText();
            blockers.add(new Blocker(
                    "it has scheduling gate " + one, "Find out who has to remove gate %s from the pod".formatted(one)));
        }
        return subject(
                "pod " + namespace + "/" + name, pod, pod.at("/spec/nodeName").asText(), scheduler);
    }

    /**
     * Reads a claim.
     *
     * @throws ReadException if there is none
     */
    Subject claim(String name) {
        JsonNode claim = objects.claim(namespace, name).orElseThrow(() -> missing("claim", name, "resourceclaims"));
        add(claim);
        List<String> users = users(claim);
        if (!users.isEmpty()) {
            notes.add("It is reserved for %s.".formatted(NameList.some(users)));
        }
        return subject(
                "claim " + namespace + "/" + name,
                null,
                "",
                List.of("Nothing on claims: it writes on pods. Explain the pod, if one uses this"
                        + " claim: a pod needs all its claims at the same time."));
    }

    /** Treats a template of a file as the claim made from it. */
    Subject templateOfFile(String name, JsonNode template) {
        add(ofTemplate(name, template));
        return subject("template " + namespace + "/" + name, null, "", List.of("Nothing: it is only in the file."));
    }

    private Subject subject(String title, JsonNode pod, String node, List<String> scheduler) {
        return new Subject(
                title,
                pod,
                node,
                List.copyOf(pending),
                List.copyOf(allocated),
                Map.copyOf(templates),
                List.copyOf(blockers),
                scheduler,
                List.copyOf(notes));
    }

    private void addEntry(JsonNode pod, String podName, JsonNode entry) {
        String name = entry.path("name").asText();
        String claim = entry.path("resourceClaimName").asText();
        if (!claim.isEmpty()) {
            addNamed(pod, claim);
            return;
        }
        Optional<JsonNode> status = pod.at("/status/resourceClaimStatuses")
                .valueStream()
                .filter(one -> one.path("name").asText().equals(name))
                .findFirst();
        if (status.isEmpty()) {
            addTemplate(podName, name, entry.path("resourceClaimTemplateName").asText(), pod);
        } else if (status.get().hasNonNull("resourceClaimName")) {
            String made = status.get().path("resourceClaimName").asText();
            note(made, entry.path("resourceClaimTemplateName").asText());
            addNamed(pod, made);
        }
    }

    private void addTemplate(String podName, String entry, String template, JsonNode pod) {
        Optional<JsonNode> found = objects.template(namespace, template);
        if (found.isEmpty()) {
            blockers.add(new Blocker(
                    "there is no ResourceClaimTemplate %s/%s, from which its claim \"%s\" should be made"
                            .formatted(namespace, template, entry),
                    "Create the template, and the claim is made from it"
                            + orCorrect("ResourceClaimTemplates", "resourceclaimtemplates")));
            return;
        }
        if (pod.has("status")) {
            blockers.add(new Blocker(
                    "its claim \"%s\" has not been made from template %s yet".formatted(entry, template),
                    whyNotMade()));
        }
        String claim = podName + "-" + entry;
        note(claim, template);
        add(ofTemplate(claim, found.get()));
    }

    private void note(String claim, String template) {
        templates.put(namespace + "/" + claim, namespace + "/" + template);
    }

    private ObjectNode ofTemplate(String name, JsonNode template) {
        ObjectNode claim = JsonNodeFactory.instance.objectNode();
        claim.putObject("metadata").put("namespace", namespace).put("name", name);
        claim.set("spec", template.at("/spec/spec"));
        return claim;
    }

    private void addNamed(JsonNode pod, String name) {
        Optional<JsonNode> found = objects.claim(namespace, name);
        if (found.isEmpty()) {
            blockers.add(new Blocker(
                    "there is no claim %s/%s".formatted(namespace, name),
                    "Create claim %s in namespace %s, and the pod continues%s"
                            .formatted(name, namespace, orCorrect("claims", "resourceclaims"))));
            return;
        }
        JsonNode claim = found.get();
        if (claim.at("/metadata").hasNonNull("deletionTimestamp")) {
            blockers.add(new Blocker(
                    "claim %s/%s has been terminating since %s"
                            .formatted(
                                    namespace,
                                    name,
                                    claim.at("/metadata/deletionTimestamp").asText()),
                    waitForEnd(claim)));
        }
        if (isOfAnother(pod, claim)) {
            blockers.add(ofAnother(claim, name));
        }
        add(claim);
    }

    private static String waitForEnd(JsonNode claim) {
        List<String> users = users(claim);
        return users.isEmpty()
                ? "Wait until it is gone, then create it again. No pod uses it; it waits for its finalizers, which their controllers have to remove: "
                        + finalizers(claim)
                : "Create it again when what uses it has ended: " + NameList.some(users);
    }

    /** The finalizers, with the controller of that which Kubernetes sets. */
    private static String finalizers(JsonNode claim) {
        return NameList.some(claim.at("/metadata/finalizers")
                .valueStream()
                .map(JsonNode::asText)
                .map(one -> one.equals("resource.kubernetes.io/delete-protection")
                        ? one + " (kube-controller-manager)"
                        : one)
                .toList());
    }

    private Blocker ofAnother(JsonNode claim, String name) {
        JsonNode owner = claim.at("/metadata/ownerReferences/0");
        String ownerName = owner.path("name").asText();
        boolean isThere = objects.pod(namespace, ownerName)
                .filter(one -> one.at("/metadata/uid").equals(owner.path("uid")))
                .isPresent();
        String problem = "claim %s/%s was made for another pod, %s (UID %s), which %s"
                .formatted(
                        namespace, name, ownerName, owner.path("uid").asText(), isThere ? "is still there" : "is gone");
        List<String> users = users(claim);
        return new Blocker(
                problem,
                isThere || !users.isEmpty()
                        ? "Wait until that pod has ended, or delete this one, so that it is created again with its own claim"
                        : "Delete the claim, and kube-controller-manager makes one for this pod: `kubectl delete resourceclaim -n %s %s`"
                                .formatted(namespace, name));
    }

    /** Returns the other remedy for a wrong name, with the existing names. */
    private String orCorrect(String kind, String plural) {
        Optional<List<String>> names = objects.names(plural, namespace);
        if (names.isPresent() && names.get().isEmpty()) {
            return "; the namespace has no " + kind;
        }
        return "; or correct the name in the manifest, delete the pod, and create it again"
                + names.map(some -> ": the namespace has " + NameList.some(some))
                        .orElse("");
    }

    /** Returns who has to act on a claim that was not made, according to the Events. */
    private String whyNotMade() {
        if (events.isEmpty()) {
            return "See the pod's Events for FailedResourceClaimCreation: a quota or a webhook may"
                    + " refuse the claim; without that Event, kube-controller-manager is down or late";
        }
        boolean isRefused = events.get().stream()
                .anyMatch(one -> one.path("reason").asText().equals("FailedResourceClaimCreation"));
        return isRefused
                ? "Fix what kube-controller-manager reports about it below: it retries automatically"
                : "Check that kube-controller-manager runs, and its log: it makes the claim within seconds, and has written no Event on the pod: `kubectl logs -n kube-system -l component=kube-controller-manager`";
    }

    /** The names of pods, and of other users with their kind, such as groups of pods. */
    private static List<String> users(JsonNode claim) {
        return claim.at("/status/reservedFor")
                .valueStream()
                .map(one -> (one.path("resource").asText().equals("pods")
                                ? ""
                                : one.path("resource").asText() + " ")
                        + one.path("name").asText())
                .toList();
    }

    /** A claim of a template belongs to the pod that controls it. */
    private static boolean isOfAnother(JsonNode pod, JsonNode claim) {
        boolean made = pod.at("/status/resourceClaimStatuses")
                .valueStream()
                .anyMatch(one -> one.path("resourceClaimName")
                        .asText()
                        .equals(claim.at("/metadata/name").asText()));
        return made
                && claim.at("/metadata/ownerReferences")
                        .valueStream()
                        .noneMatch(one -> one.path("uid").equals(pod.at("/metadata/uid")));
    }

    private void add(JsonNode json) {
        JsonNode allocation = json.at("/status/allocation");
        Claim claim = Claim.of(json);
        if (allocation.isObject()) {
            JsonNode nodes = allocation.path("nodeSelector");
            allocated.add(new Allocated(claim, nodes.isObject() ? NodeSelector.of(nodes) : null));
        } else {
            pending.add(claim);
        }
    }
}
