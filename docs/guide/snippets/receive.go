// A receiver of webhooks with nothing but Go's own library: WEBHOOK_SECRET=whsec_… go run receive.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const tolerance = 5 * time.Minute

type event struct {
	Type string `json:"type"`
	Data struct {
		PaymentOrderID     string `json:"payment_order_id"`
		PaymentOrderStatus string `json:"payment_order_status"`
	} `json:"data"`
}

// --8<-- [start:verify]

// verify returns the event of a delivery, or an error unless the service sent it, just now and just so.
func verify(body []byte, headers http.Header, secret string) (*event, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	id, sent, given := headers.Get("webhook-id"), headers.Get("webhook-timestamp"), headers.Get("webhook-signature")
	seconds, notANumber := strconv.ParseInt(sent, 10, 64)
	if err != nil || len(key) < 16 || id == "" || notANumber != nil {
		return nil, errors.New("a header is missing, or this is no secret")
	}
	digest := hmac.New(sha256.New, key)
	fmt.Fprintf(digest, "%s.%s.%s", id, sent, body)
	right := "v1," + base64.StdEncoding.EncodeToString(digest.Sum(nil))
	// Two secrets sign while one replaces the other: one of the signatures has to be right.
	isRight := false
	for _, each := range strings.Fields(given) {
		isRight = hmac.Equal([]byte(each), []byte(right)) || isRight
	}
	if !isRight {
		return nil, errors.New("no signature is right")
	}
	if age := time.Since(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return nil, errors.New("it was sent too long ago")
	}
	var received struct{ Event event }
	err = json.Unmarshal(body, &received)
	return &received.Event, err
}

// --8<-- [end:verify]

func main() {
	if os.Getenv("WEBHOOK_SECRET") == "" {
		fmt.Fprintln(os.Stderr, "Set WEBHOOK_SECRET to the webhook's secret (whsec_…): without it no delivery can be checked.")
		os.Exit(1)
	}
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body) // the body as it came, to the byte
		if err == nil {
			var received *event
			if received, err = verify(body, request.Header, os.Getenv("WEBHOOK_SECRET")); err == nil {
				fmt.Println(received.Type, received.Data.PaymentOrderID, received.Data.PaymentOrderStatus)
				response.WriteHeader(http.StatusNoContent)
				return
			}
		}
		fmt.Println("refused:", err)
		response.WriteHeader(http.StatusBadRequest)
	})
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+port, nil))
	os.Exit(1)
}
