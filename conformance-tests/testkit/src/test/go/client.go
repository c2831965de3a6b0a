// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0

// A driver's traffic with the real client-go: each step prints one line, and RealClientsIT checks it.
//
// Arguments: a kubeconfig, and the content type to ask for ("" for the client's own default).
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	resource "k8s.io/api/resource/v1"
	errors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	applied "k8s.io/client-go/applyconfigurations/resource/v1"
	client "k8s.io/client-go/kubernetes/typed/resource/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	driver  = "gpu.example.com"
	timeout = 30 * time.Second
)

// headers notes the content types that go over the wire.
type headers struct {
	next http.RoundTripper
	seen chan string
}

func (h *headers) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := h.next.RoundTrip(request)
	if err == nil {
		note := request.Method + " " + short(request.Header.Get("Content-Type")) +
			" -> " + fmt.Sprint(response.StatusCode) + " " + short(response.Header.Get("Content-Type"))
		select {
		case h.seen <- note:
		default:
		}
	}
	return response, err
}

func short(contentType string) string {
	if contentType == "" {
		return "-"
	}
	return strings.ReplaceAll(strings.TrimPrefix(contentType, "application/"), " ", "")
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	check(err)
	if os.Args[2] != "" {
		config.ContentType = os.Args[2]
		config.AcceptContentTypes = os.Args[2] + ",application/json"
	}
	wire := &headers{seen: make(chan string, 1000)}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		wire.next = next
		return wire
	})
	api, err := client.NewForConfig(config)
	check(err)
	ctx, cancel := context.WithTimeout(context.Background(), 2*timeout)
	defer cancel()
	run := &run{ctx, api.ResourceSlices(), wire}
	run.verbs()
	run.failures()
	run.apply(api.ResourceClaims("default"))
	run.watchList()
	run.informer(config)
	run.claim(api)
	fmt.Println("done")
}

type run struct {
	ctx    context.Context
	slices client.ResourceSliceInterface
	wire   *headers
}

// say prints a step, with the latest exchange on the wire.
func (r *run) say(step, format string, arguments ...any) {
	last := "-"
	for {
		select {
		case last = <-r.wire.seen:
			continue
		default:
		}
		break
	}
	fmt.Printf("%s: %s [%s]\n", step, fmt.Sprintf(format, arguments...), last)
}

func check(err error) {
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

func slice(name string, devices ...string) *resource.ResourceSlice {
	node := "node-1"
	s := &resource.ResourceSlice{
		ObjectMeta: meta.ObjectMeta{Name: name},
		Spec: resource.ResourceSliceSpec{
			Driver:   driver,
			NodeName: &node,
			Pool:     resource.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
		},
	}
	for _, device := range devices {
		model := "T4"
		s.Spec.Devices = append(s.Spec.Devices, resource.Device{
			Name: device,
			Attributes: map[resource.QualifiedName]resource.DeviceAttribute{
				"model": {StringValue: &model},
			},
		})
	}
	return s
}

func names(s *resource.ResourceSlice) string {
	var all []string
	for _, device := range s.Spec.Devices {
		all = append(all, device.Name)
	}
	return strings.Join(all, ",")
}

func (r *run) verbs() {
	made, err := r.slices.Create(r.ctx, slice("one", "gpu-0"), meta.CreateOptions{})
	check(err)
	r.say("create", "%s uid=%t devices=%s model=%s", made.Name, made.UID != "", names(made),
		*made.Spec.Devices[0].Attributes["model"].StringValue)
	got, err := r.slices.Get(r.ctx, "one", meta.GetOptions{})
	check(err)
	r.say("get", "%s same=%t", got.Name, got.UID == made.UID)
	got.Spec.Devices = slice("one", "gpu-0", "gpu-1").Spec.Devices
	changed, err := r.slices.Update(r.ctx, got, meta.UpdateOptions{})
	check(err)
	r.say("update", "devices=%s generation=%d newer=%t", names(changed), changed.Generation,
		changed.ResourceVersion != made.ResourceVersion)
	patched, err := r.slices.Patch(r.ctx, "one", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"a":"b"}}}`), meta.PatchOptions{})
	check(err)
	r.say("patch", "label=%s", patched.Labels["a"])
	list, err := r.slices.List(r.ctx, meta.ListOptions{FieldSelector: "spec.driver=" + driver})
	check(err)
	r.say("list", "%d items, revision=%t", len(list.Items), list.ResourceVersion != "")
	check(r.slices.Delete(r.ctx, "one", *meta.NewPreconditionDeleteOptions(string(made.UID))))
	r.say("delete", "ok")
	_, err = r.slices.Get(r.ctx, "one", meta.GetOptions{})
	r.say("get", "notFound=%t %v", errors.IsNotFound(err), err)
}

func (r *run) failures() {
	made, err := r.slices.Create(r.ctx, slice("two", "gpu-0"), meta.CreateOptions{})
	check(err)
	_, err = r.slices.Create(r.ctx, slice("two", "gpu-0"), meta.CreateOptions{})
	r.say("create", "exists=%t %v", errors.IsAlreadyExists(err), err)
	fresh := made.DeepCopy()
	fresh.Spec.Devices = slice("two", "gpu-1").Spec.Devices
	_, err = r.slices.Update(r.ctx, fresh, meta.UpdateOptions{})
	check(err)
	_, err = r.slices.Update(r.ctx, made, meta.UpdateOptions{})
	r.say("update", "conflict=%t %v", errors.IsConflict(err), err)
	_, err = r.slices.Create(r.ctx, slice("three", "GPU"), meta.CreateOptions{})
	status, _ := err.(errors.APIStatus)
	r.say("create", "invalid=%t cause=%s", errors.IsInvalid(err),
		status.Status().Details.Causes[0].Field)
	wrong := types.UID("another")
	err = r.slices.Delete(r.ctx, "two",
		meta.DeleteOptions{Preconditions: &meta.Preconditions{UID: &wrong}})
	r.say("delete", "conflict=%t", errors.IsConflict(err))
	_, err = r.slices.Get(r.ctx, "a;b", meta.GetOptions{})
	r.say("get", "%v", err)
	check(r.slices.Delete(r.ctx, "two", meta.DeleteOptions{}))
}

func (r *run) apply(claims client.ResourceClaimInterface) {
	request := applied.DeviceRequest().WithName("gpu").
		WithExactly(applied.ExactDeviceRequest().WithDeviceClassName(driver))
	claim := func(label string) *applied.ResourceClaimApplyConfiguration {
		return applied.ResourceClaim("applied", "default").WithLabels(map[string]string{"a": label})
	}
	whole := claim("one").
		WithSpec(applied.ResourceClaimSpec().WithDevices(applied.DeviceClaim().WithRequests(request)))
	made, err := claims.Apply(r.ctx, whole, meta.ApplyOptions{FieldManager: "first"})
	check(err)
	r.say("apply", "%s label=%s manager=%s", made.Name, made.Labels["a"], made.ManagedFields[0].Manager)
	_, err = claims.Apply(r.ctx, claim("two"), meta.ApplyOptions{FieldManager: "second"})
	r.say("apply", "conflict=%t %v", errors.IsConflict(err), err)
	forced, err := claims.Apply(r.ctx, claim("two"),
		meta.ApplyOptions{FieldManager: "second", Force: true})
	check(err)
	r.say("apply", "label=%s managers=%d", forced.Labels["a"], len(forced.ManagedFields))
}

// watchList asks for the initial events in a watch, up to the bookmark that ends them.
func (r *run) watchList() {
	_, err := r.slices.Create(r.ctx, slice("listed", "gpu-0"), meta.CreateOptions{})
	check(err)
	yes := true
	w, err := r.slices.Watch(r.ctx, meta.ListOptions{
		SendInitialEvents: &yes, AllowWatchBookmarks: true,
		ResourceVersionMatch: meta.ResourceVersionMatchNotOlderThan})
	check(err)
	defer w.Stop()
	var kinds []string
	for event := range w.ResultChan() {
		kinds = append(kinds, string(event.Type))
		s, ok := event.Object.(*resource.ResourceSlice)
		if event.Type == watch.Bookmark && ok && s.Annotations[meta.InitialEventsAnnotationKey] == "true" {
			break
		}
	}
	r.say("watch-list", "%s", strings.Join(kinds, ","))
	check(r.slices.Delete(r.ctx, "listed", meta.DeleteOptions{}))
	event := <-w.ResultChan()
	r.say("watch", "%s %s", event.Type, event.Object.(*resource.ResourceSlice).Name)
	old, err := r.slices.Watch(r.ctx, meta.ListOptions{ResourceVersion: "1"})
	if err == nil {
		first := <-old.ResultChan()
		err = errors.FromObject(first.Object)
		old.Stop()
	}
	r.say("watch", "expired=%t", errors.IsResourceExpired(err) || errors.IsGone(err))
}

func (r *run) informer(config *rest.Config) {
	api, err := client.NewForConfig(config)
	check(err)
	slices := api.ResourceSlices()
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o meta.ListOptions) (runtime.Object, error) {
			return slices.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o meta.ListOptions) (watch.Interface, error) {
			return slices.Watch(ctx, o)
		},
	}
	events := make(chan string, 100)
	informer := cache.NewSharedIndexInformer(
		cache.ToListWatcherWithWatchListSemantics(listWatch, api), &resource.ResourceSlice{}, 0, nil)
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { events <- "add " + o.(*resource.ResourceSlice).Name },
		UpdateFunc: func(_, o any) { events <- "update " + names(o.(*resource.ResourceSlice)) },
		DeleteFunc: func(o any) { events <- "delete " + o.(*resource.ResourceSlice).Name },
	})
	check(err)
	made, err := slices.Create(r.ctx, slice("seen", "gpu-0"), meta.CreateOptions{})
	check(err)
	go informer.Run(r.ctx.Done())
	if !cache.WaitForCacheSync(r.ctx.Done(), informer.HasSynced) {
		check(fmt.Errorf("the informer did not sync"))
	}
	r.say("informer", "%s", <-events)
	made.Spec.Devices = slice("seen", "gpu-0", "gpu-1").Spec.Devices
	_, err = slices.Update(r.ctx, made, meta.UpdateOptions{})
	check(err)
	r.say("informer", "%s", <-events)
	check(slices.Delete(r.ctx, "seen", meta.DeleteOptions{}))
	r.say("informer", "%s", <-events)
}

// claim reads a claim as a driver does when it prepares it.
func (r *run) claim(api client.ResourceV1Interface) {
	claim := &resource.ResourceClaim{
		ObjectMeta: meta.ObjectMeta{GenerateName: "claim-"},
		Spec: resource.ResourceClaimSpec{Devices: resource.DeviceClaim{
			Requests: []resource.DeviceRequest{{Name: "gpu",
				Exactly: &resource.ExactDeviceRequest{DeviceClassName: driver}}},
			Config: []resource.DeviceClaimConfiguration{{
				DeviceConfiguration: resource.DeviceConfiguration{
					Opaque: &resource.OpaqueDeviceConfiguration{Driver: driver,
						Parameters: runtime.RawExtension{Raw: []byte(`{"kind":"GpuConfig","share":2}`)}}}}},
		}},
	}
	claims := api.ResourceClaims("default")
	made, err := claims.Create(r.ctx, claim, meta.CreateOptions{})
	check(err)
	r.say("claim", "generated=%t mode=%s config=%s", strings.HasPrefix(made.Name, "claim-"),
		made.Spec.Devices.Requests[0].Exactly.AllocationMode,
		made.Spec.Devices.Config[0].Opaque.Parameters.Raw)
}
