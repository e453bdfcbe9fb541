// Browsers start no workers for pages that are opened as files. There, this replacement runs the
// script of the search in a hidden frame, so that the search works without a web server.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      const inner = this.frame.contentWindow
      inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      const script = inner.document.createElement("script")
      script.src = url
      script.onload = () => {
        const messages = this.waiting
        this.waiting = undefined
        messages.forEach(data => this.postMessage(data))
      }
      inner.document.body.append(script)
    }

    postMessage(data) {
      if (this.waiting) {
        this.waiting.push(data)
        return
      }
      const inner = this.frame.contentWindow
      inner.dispatchEvent(new inner.MessageEvent("message", { data }))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
